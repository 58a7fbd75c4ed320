/** The bound of what the texts of an account's incidents and maintenances take together. */
import { MAX_POST_BYTES } from '../../../domain/incident/post-bytes.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type RegistryStore, statement } from '../../database/registry-store.ts';

const TAKEN = statement<{ readonly bytes: number }>(
  `SELECT coalesce((SELECT sum(text_bytes) FROM owner_incidents WHERE account_id = ?), 0)
     + coalesce((SELECT sum(text_bytes) FROM owner_maintenances WHERE account_id = ?), 0) AS bytes`,
);

/** Throws `account_limit` if a post that took `before` bytes and takes `after` would exceed the bound of its account. */
export async function refuseLongPost(
  { queries }: RegistryStore,
  accountId: number,
  before: number,
  after: number,
): Promise<void> {
  if (after <= before) return;
  const taken = Number((await queries.first(TAKEN(accountId, accountId)))?.bytes ?? 0);
  if (taken - before + after > MAX_POST_BYTES)
    throw new RegistryError('account_limit', { code: 'too_much_text', max: MAX_POST_BYTES });
}
