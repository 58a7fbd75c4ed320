/** A service leaves the list, and the next one of its host takes its place. */
import { type CheckDefinition, isFormOf } from '../../../domain/service.ts';
import type { RegistryStore } from '../../database/registry-store.ts';
import { endSubscriptions } from '../alerts/subscription-changes.ts';
import { followParents, type ServiceRow, toDefinition, updateService } from './service-rows.ts';
import { toCheck } from './shared-checks.ts';

/**
 * Removes a service from the list. Its row, status, transitions and incidents stay, because it may be added again; its
 * credentials do not. `slug` replaces its slug, if other services may take that slug. If it was the first one of its host, the
 * oldest of the others becomes that.
 */
export async function retireService(store: RegistryStore, row: ServiceRow, slug = row.slug): Promise<void> {
  const { kysely, queries } = store;
  const next = row.origin === 'owner' && row.further === 0 ? await findNext(store, row) : null;
  // The form of the domain leads to the next one from then on.
  const former = next === null ? row.former_slugs : null;
  await queries.run(
    kysely
      .updateTable('services')
      .set({
        removed: 1,
        slug,
        revision: row.revision + 1,
        check_definition: JSON.stringify(withoutCredentials(toCheck(row.check_definition))),
        depends_on: null,
        former_slugs: slug === row.slug ? former : null,
      })
      .where('id', '=', row.id),
  );
  await queries.run(kysely.updateTable('incidents').set({ listed: 0 }).where('service_id', '=', row.id));
  await endSubscriptions(store, `service:${row.id}`);
  await followParents(store, new Map([[row.slug, null]]));
  await queries.run(
    kysely.insertInto('changes').values({ service_id: row.id, slug: row.slug, service: null }),
  );
  // It is read again, since what it depends on may have changed.
  const first = next === null ? null : await findNext(store, row);
  if (first !== null) await makeFirst(store, first, row);
}

/** The oldest of the other live services that the account has on the host; null: there is none. */
async function findNext(
  { kysely, queries }: RegistryStore,
  { id, domain, account_id }: ServiceRow,
): Promise<ServiceRow | null> {
  const others = kysely
    .selectFrom('services')
    .selectAll()
    .where('domain', '=', domain)
    .where('account_id', '=', account_id)
    .where('origin', '=', 'owner')
    .where('removed', '=', 0)
    .where('id', '<>', id);
  return (await queries.all(others.orderBy('id')))[0] ?? null;
}

/** Makes a service the first one of its host: what led to the former one by its domain leads to it. */
async function makeFirst(store: RegistryStore, row: ServiceRow, former: ServiceRow): Promise<void> {
  const { isFurther: _, ...definition } = toDefinition(row);
  const { slug, formerSlugs = [] } = toDefinition(former);
  const ofDomain = [slug, ...formerSlugs].filter((one) => isFormOf(one, row.domain));
  const names = [...new Set([...(definition.formerSlugs ?? []), ...ofDomain])].filter(
    (one) => one !== row.slug,
  );
  await updateService(store, row, { ...definition, ...(names.length === 0 ? {} : { formerSlugs: names }) });
}

function withoutCredentials({ sealed: _sealed, ...check }: CheckDefinition): CheckDefinition {
  return check;
}
