/** Maintenance among the changes of what an account has. Functions run inside the transaction of the changes. */
import { keptChanges } from '../../../domain/incident/owner-maintenance.ts';
import type { OpenRegistry } from '../../database/registry-calls.ts';
import type {
  ContentOptions,
  MaintenanceContent,
  RefusedContent,
  WantedMaintenance,
} from '../../ports/account-content.ts';
import { noteRefusal } from '../alerts/alert-content.ts';
import { addOwnerMaintenance, ownerMaintenancesOf, putOwnerMaintenance } from './owner-maintenance-rows.ts';
import { pagesOf } from './status-page-rows.ts';

export async function withdrawMaintenances(
  registry: OpenRegistry,
  accountId: number,
  { removed }: MaintenanceContent,
  { now }: ContentOptions,
): Promise<void> {
  if (removed.length === 0) return;
  for (const one of await ownerMaintenancesOf(registry, accountId))
    if (removed.includes(one.id)) await putOwnerMaintenance(registry, { ...one, cancelledAt: now }, now);
}

/** Writes maintenances. `ids`: IDs of services of the account by their domains. */
export async function putMaintenances(
  registry: OpenRegistry,
  accountId: number,
  { wanted, siteUrl }: MaintenanceContent,
  { now, dryRun }: ContentOptions,
  ids: ReadonlyMap<string, number>,
): Promise<RefusedContent[]> {
  const refused: RefusedContent[] = [];
  const pages = new Map((await pagesOf(registry, accountId)).map(({ slug, id }) => [slug, id]));
  const present = new Map((await ownerMaintenancesOf(registry, accountId)).map((one) => [one.id, one]));
  const put = async ({ key: _, id, ...post }: WantedMaintenance): Promise<void> => {
    const find = (name: string, found: number | undefined) => {
      // A dry run does not add services and pages of other steps.
      if (found === undefined && !dryRun) throw new Error(`${post.title} names ${name}, which is not there`);
      return found ?? [];
    };
    const services = post.services.flatMap((one) =>
      typeof one === 'number' ? one : find(one, ids.get(one)),
    );
    const named = { services, pages: post.pages.flatMap((slug) => find(slug, pages.get(slug))) };
    const before = id === null ? undefined : present.get(id);
    if (before === undefined) {
      await addOwnerMaintenance(registry, { ...post, ...named, accountId, siteUrl, now });
      return;
    }
    const changed = { ...before, ...post, ...named, changes: keptChanges(before, post) };
    await putOwnerMaintenance(registry, changed, now);
  };
  for (const one of wanted) await noteRefusal(refused, { type: 'maintenance', key: one.key }, () => put(one));
  return refused;
}
