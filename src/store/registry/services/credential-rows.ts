/** Credentials of checks in the rows of services. */
import { isKeyOf } from '../../../domain/credential-seal.ts';
import { addNotice } from '../../database/notice-rows.ts';
import type { OpenRegistry } from '../../database/registry-calls.ts';
import { ownedServices } from './owner-services.ts';
import { toDefinition, updateService } from './service-rows.ts';

/**
 * Removes the credentials of checks that were sealed with another key than the present one, inside the caller's transaction,
 * with a notice to the owners of the services. Returns the number of services.
 */
export async function removeLostCredentials(registry: OpenRegistry, now: number): Promise<number> {
  const { kysely, queries, secrets } = registry;
  const key = secrets.checksKey();
  const rows = await queries.all(
    ownedServices(kysely).selectAll().where('check_definition', 'like', '%"sealed":%'),
  );
  let removed = 0;
  for (const row of rows) {
    const { check, ...definition } = toDefinition(row);
    const { sealed = {}, ...rest } = check;
    const kept = Object.entries(sealed).filter(([, text]) => key !== null && isKeyOf(key, text));
    if (kept.length === Object.keys(sealed).length) continue;
    removed++;
    const left = kept.length === 0 ? rest : { ...rest, sealed: Object.fromEntries(kept) };
    await updateService(registry, row, { ...definition, check: left });
    if (row.account_id !== null)
      await addNotice(registry, row.account_id, now, { code: 'credentials_removed', domain: row.domain });
  }
  return removed;
}
