/** Topics with subscribers: pages that show a service, and the end of subscriptions that nobody confirmed or whose topic is gone. */
import { createHash } from 'node:crypto';
import { DAY_MS } from '../../../domain/durations.ts';
import type { Service } from '../../../domain/service.ts';
import { isListable, isShown, nameOfEntry, type PageGroup } from '../../../domain/status-page.ts';
import { type NamedService, readTopic, UNCONFIRMED_MS } from '../../../domain/subscription.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import { tellPageMaintenances } from '../pages/owner-maintenance-rows.ts';
import { toService } from '../services/service-rows.ts';
import { deleteSubscription, goneAmong } from './subscription-rows.ts';

// Steps from one topic with subscribers to the next one by the index, so that the cost does not depend on their number.
/** The topics with confirmed subscribers from a name on and below others. */
const TOPICS = statement<{ readonly topic: string }>(
  `WITH RECURSIVE topics (topic) AS (
     SELECT min(topic) FROM subscriptions WHERE confirmed_at IS NOT NULL AND topic >= ?
     UNION ALL
     SELECT (SELECT min(topic) FROM subscriptions WHERE confirmed_at IS NOT NULL AND topic > topics.topic)
     FROM topics WHERE topics.topic < ?)
   SELECT topic FROM topics WHERE topic < ?`,
);
// What waits for the end of an owner's maintenance may be older.
const FORGET_CHANGES = statement(
  `DELETE FROM subscription_changes WHERE recorded_at < ?
     AND NOT EXISTS (SELECT 1 FROM letters WHERE letters.change_id = subscription_changes.id)
     AND (written <> 2 OR NOT EXISTS
       (SELECT 1 FROM maintenances WHERE maintenances.service_id = subscription_changes.service_id
          AND owner_id IS NOT NULL AND phase = 'running'))`,
);
// One look for each of the letters, which are few: a list of all subscriptions would be read whole.
const FORGET_ORPHANS = statement(
  `DELETE FROM letters WHERE subscription_id IS NOT NULL
     AND (SELECT subscriptions.id FROM subscriptions WHERE subscriptions.id = letters.subscription_id) IS NULL`,
);
const UNCONFIRMED_TOPICS = statement<{ readonly topic: string }>(
  'SELECT DISTINCT topic FROM subscriptions WHERE confirmed_at IS NULL',
);

/** Ends them; returns the number of subscriptions. Page maintenances that have come to their time are told first. */
export async function tidySubscriptions(
  store: RegistryStore,
  now: number,
  retentionNow: number,
): Promise<number> {
  const { kysely, queries } = store;
  await tellPageMaintenances(store, now);
  const ended: number[] = [];
  const late = kysely
    .selectFrom('subscriptions')
    .select('id')
    .where('confirmed_at', 'is', null)
    .where('created_at', '<', retentionNow - UNCONFIRMED_MS);
  ended.push(...(await queries.all(late)).map(({ id }) => id));
  const topics = [...(await queries.all(TOPICS('', '~', '~'))), ...(await queries.all(UNCONFIRMED_TOPICS()))];
  for (const topic of await goneAmong(store, [...new Set(topics.map((one) => one.topic))])) {
    const gone = kysely.selectFrom('subscriptions').select('id').where('topic', '=', topic);
    ended.push(...(await queries.all(gone)).map(({ id }) => id));
  }
  for (const id of ended) await deleteSubscription(store, id);
  await queries.run(
    kysely.deleteFrom('letter_counts').where('day', '<', Math.floor(retentionNow / DAY_MS) - 1),
  );
  await queries.run(FORGET_CHANGES(retentionNow - DAY_MS));
  await queries.run(FORGET_ORPHANS());
  const channels = kysely.selectFrom('channels').select('id');
  await queries.run(
    kysely.deleteFrom('letters').where('channel_id', 'is not', null).where('channel_id', 'not in', channels),
  );
  await queries.run(kysely.deleteFrom('channel_confirmations').where('channel_id', 'not in', channels));
  return new Set(ended).size;
}

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
