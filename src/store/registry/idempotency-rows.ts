/** Outcomes of changes with the keys of clients. Writing functions run inside the transaction of the change. */
import {
  IDEMPOTENCY_MS,
  type IdempotentOutcome,
  type IdempotentRequest,
  MAX_IDEMPOTENT_CHANGES,
  MAX_IDEMPOTENT_CHARACTERS,
} from '../ports/idempotency.ts';
import type { OpenRegistry } from './registry-calls.ts';
import { RegistryError } from './registry-error.ts';
import { statement } from './registry-store.ts';

/** Old outcomes are deleted with one of so many new ones. */
const PRUNE_EVERY = 64;
/** Characters of an outcome after which the length of all is compared with its maximum, which reads them. */
const LONG_OUTCOME = 32_768;

const FIND = statement<{ readonly id: number; readonly fingerprint: string; readonly outcome: string }>(
  'SELECT id, fingerprint, outcome FROM idempotent_changes WHERE account_id = ? AND key = ? AND created_at > ?',
);
const DELETE = statement('DELETE FROM idempotent_changes WHERE account_id = ? AND key = ?');
const INSERT = statement<{ readonly id: number }>(
  'INSERT INTO idempotent_changes (account_id, key, fingerprint, outcome, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
);
const DELETE_OLD = statement('DELETE FROM idempotent_changes WHERE created_at <= ?');
const DELETE_BEYOND = statement(
  `DELETE FROM idempotent_changes WHERE account_id = ? AND id <=
   (SELECT id FROM idempotent_changes WHERE account_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${MAX_IDEMPOTENT_CHANGES})`,
);
const DELETE_BEYOND_LENGTH = statement(
  `DELETE FROM idempotent_changes WHERE account_id = ? AND id IN (SELECT id FROM
   (SELECT id, SUM(LENGTH(outcome)) OVER (ORDER BY id DESC) AS up_to FROM idempotent_changes WHERE account_id = ?) AS sums
   WHERE up_to > ${MAX_IDEMPOTENT_CHARACTERS})`,
);
const DELETE_ALL = statement('DELETE FROM idempotent_changes');

/** The stored outcome; null: there is none. Throws `idempotency_mismatch`. */
export async function findIdempotent(
  { queries, secrets }: OpenRegistry,
  { accountId, key, fingerprint, now }: IdempotentRequest,
): Promise<IdempotentOutcome<unknown> | null> {
  const row = await queries.first(FIND(accountId, key, now - IDEMPOTENCY_MS));
  if (row === undefined) return null;
  if (row.fingerprint !== (await secrets.digest(fingerprint)))
    throw new RegistryError('idempotency_mismatch', { code: 'idempotency_mismatch', key });
  const outcome: Pick<IdempotentOutcome<unknown>, 'value' | 'secret'> = JSON.parse(
    (await secrets.box()).open(row.outcome),
  );
  return { ...outcome, isReplay: true };
}

/** Makes the change and stores its outcome, unless it was made before. `isMade`: whether a value says that it was made. */
export async function callIdempotent(
  registry: OpenRegistry,
  request: IdempotentRequest,
  change: () => Promise<unknown>,
  isMade: (value: unknown) => boolean,
): Promise<IdempotentOutcome<unknown>> {
  const known = await findIdempotent(registry, request);
  if (known !== null) return known;
  const { accountId, key, fingerprint, secret, now } = request;
  const value = await change();
  if (!isMade(value)) return { value, secret, isReplay: false };
  const { queries, secrets } = registry;
  const outcome = (await secrets.box()).seal(JSON.stringify({ value, secret }));
  await queries.run(DELETE(accountId, key));
  // The request may contain credentials of a check.
  const digest = await secrets.digest(fingerprint);
  const row = await queries.first(INSERT(accountId, key, digest, outcome, now));
  if (row === undefined) throw new Error('the outcome was not written');
  if (outcome.length > LONG_OUTCOME) await queries.run(DELETE_BEYOND_LENGTH(accountId, accountId));
  if (row.id % PRUNE_EVERY === 0) {
    await queries.run(DELETE_OLD(now - IDEMPOTENCY_MS));
    await queries.run(DELETE_BEYOND(accountId, accountId));
  }
  return { value, secret, isReplay: false };
}

/** Removes all outcomes, because they can no longer be decrypted. */
export async function forgetIdempotent({ queries }: OpenRegistry): Promise<void> {
  await queries.run(DELETE_ALL());
}
