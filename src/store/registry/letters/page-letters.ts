/** Letters to subscribers of status pages about the services on them. */
import { createHash } from 'node:crypto';
import type { Service } from '../../../domain/service.ts';
import { isListable, isShown, nameOfEntry, type PageGroup } from '../../../domain/status-page.ts';
import { type NamedService, readTopic } from '../../../domain/subscription.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { toService } from '../services/service-rows.ts';
import { TOPICS } from './tidy-subscriptions.ts';

/** Length of what stands for a private service in the threads of letters. */
const MARK_CHARACTERS = 16;

/** IDs of the live status pages with subscribers that show a service. */
export async function pagesWith({ kysely, queries }: RegistryStore, service: Service): Promise<number[]> {
  const topics = await queries.all(TOPICS('page:', 'page;', 'page;'));
  const ids = topics.flatMap(({ topic }) => {
    const parts = readTopic(topic);
    return parts?.kind === 'page' ? [parts.id] : [];
  });
  if (ids.length === 0) return [];
  const rows = await queries.all(
    kysely
      .selectFrom('status_pages')
      .select(['id', 'account_id', 'groups'])
      .where('removed', '=', 0)
      .where('members_only', '=', 0)
      .where('id', 'in', ids),
  );
  return rows.filter((row) => ownNameOn(row, service) !== null).map(({ id }) => id);
}

/** The name of a private service in letters about a page that shows it; null: the page does not. */
export async function findAlias(
  { kysely, queries }: RegistryStore,
  serviceId: number,
  topic: string,
): Promise<NamedService | null> {
  const parts = readTopic(topic);
  if (parts?.kind !== 'page') return null;
  const page = await queries.first(
    kysely
      .selectFrom('status_pages')
      .select(['account_id', 'groups', 'slug'])
      .where('id', '=', parts.id)
      .where('removed', '=', 0)
      .where('members_only', '=', 0),
  );
  const row = await queries.first(
    kysely.selectFrom('services').selectAll().where('id', '=', serviceId).where('removed', '=', 0),
  );
  const name = page === undefined || row === undefined ? null : ownNameOn(page, toService(row));
  if (page === undefined || name === null) return null;
  // Of what the letter says alone: everyone could find the number of the service.
  const mark = createHash('sha256').update(`${topic} ${name}`).digest('hex').slice(0, MARK_CHARACTERS);
  return { id: serviceId, slug: page.slug, name, domain: '', isPage: true, mark };
}

/** The name that a service has on a page alone, empty where it has none; null: the page does not show it. */
function ownNameOn(
  { account_id: accountId, groups }: Pick<Row<'status_pages'>, 'account_id' | 'groups'>,
  service: Service,
): string | null {
  const listed: readonly PageGroup[] = JSON.parse(groups);
  const group = listed.find(({ services }) => services.includes(service.id));
  if (group === undefined || !isListable(service, accountId)) return null;
  const own = nameOfEntry(group, service.id);
  return isShown(service, own) ? own : null;
}
