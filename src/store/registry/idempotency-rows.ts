/** Outcomes of changes with the keys of clients. Writing functions run inside the transaction of the change. */
import type { JointOutcome } from '../database/group-commit.ts';
import type { OpenRegistry } from '../database/registry-calls.ts';
import { RegistryError } from '../database/registry-error.ts';
import { type Batch, statement } from '../database/registry-store.ts';
import {
  IDEMPOTENCY_MS,
  type IdempotentOutcome,
  type IdempotentRequest,
  MAX_IDEMPOTENT_CHANGES,
  MAX_IDEMPOTENT_CHARACTERS,
} from '../ports/idempotency.ts';

/** Old outcomes are deleted with one of so many new ones. */
const PRUNE_EVERY = 64;
/** Characters of an outcome after which the length of all is compared with its maximum, which reads them. */
const LONG_OUTCOME = 32_768;

type StoredOutcome = { readonly fingerprint: string; readonly outcome: string };
const FIND: Batch<StoredOutcome> = {
  types: ['bigint', 'text', 'bigint'],
  sql: 'SELECT fingerprint, outcome FROM idempotent_changes WHERE account_id = ? AND key = ? AND created_at > ?',
};
// PostgreSQL plans a batch anew for each execution. This runs for each request with a key.
const FIND_ONE = statement<StoredOutcome>(FIND.sql);
const FIND_ID: Batch<{ readonly id: number }> = {
  types: ['bigint', 'text'],
  sql: 'SELECT id FROM idempotent_changes WHERE account_id = ? AND key = ?',
};
const DELETE: Batch<unknown> = {
  types: ['bigint', 'text'],
  sql: 'DELETE FROM idempotent_changes WHERE account_id = ? AND key = ?',
};
const INSERT: Batch<unknown> = {
  types: ['bigint', 'text', 'text', 'text', 'bigint'],
  sql: 'INSERT INTO idempotent_changes (account_id, key, fingerprint, outcome, created_at) VALUES (?, ?, ?, ?, ?)',
};
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

type Outcome = IdempotentOutcome<unknown>;

/** The stored outcome; null: there is none. Throws `idempotency_mismatch`. */
export async function findIdempotent(
  registry: OpenRegistry,
  request: IdempotentRequest,
): Promise<Outcome | null> {
  const { accountId, key, now } = request;
  const row = await registry.queries.first(FIND_ONE(accountId, key, now - IDEMPOTENCY_MS));
  const found = await readOutcome(registry, request, row);
  return found === null ? null : unwrap(found);
}

/** Makes a change and stores its outcome, unless it was made before. `isMade`: whether a value says that it was made. */
export async function callIdempotent(
  registry: OpenRegistry,
  request: IdempotentRequest,
  change: () => Promise<unknown>,
  isMade: (value: unknown) => boolean,
): Promise<Outcome> {
  const one = async () => [{ value: await change() }];
  const [outcome = null] = await callIdempotentTogether(registry, [request], one, isMade);
  if (outcome === null) throw new Error('the change was not made');
  return unwrap(outcome);
}

/**
 * Makes several changes and stores their outcomes, except those that were made before. `change` makes those with these indices, at least one.
 * The outcome is null where that of `change` is, and for a request with the key of another one among them.
 */
export async function callIdempotentTogether(
  registry: OpenRegistry,
  requests: readonly IdempotentRequest[],
  change: (indices: readonly number[]) => Promise<readonly JointOutcome<unknown>[]>,
  isMade: (value: unknown) => boolean,
): Promise<JointOutcome<Outcome>[]> {
  const outcomes = await findStored(registry, requests);
  const keys = new Set<string>();
  const fresh = requests.flatMap(({ accountId, key }, index) => {
    const name = `${accountId} ${key}`;
    if (outcomes[index] !== null || keys.has(name)) return [];
    keys.add(name);
    return [index];
  });
  const changes = fresh.length === 0 ? [] : await change(fresh);
  const made: { readonly request: IdempotentRequest; readonly value: unknown }[] = [];
  for (const [at, index] of fresh.entries()) {
    const [request, outcome = null] = [requests[index], changes[at]];
    if (request === undefined || outcome === null || 'error' in outcome) {
      outcomes[index] = outcome as JointOutcome<Outcome>;
      continue;
    }
    const { value } = outcome;
    outcomes[index] = { value: { value, secret: request.secret, isReplay: false } };
    if (isMade(value)) made.push({ request, value });
  }
  await store(registry, made);
  return outcomes;
}

/** The stored outcomes of requests; null: there is none. Requests for something else have an error. */
async function findStored(
  registry: OpenRegistry,
  requests: readonly IdempotentRequest[],
): Promise<JointOutcome<Outcome>[]> {
  const rows = await registry.queries.firstEach(
    FIND,
    requests.map(({ accountId, key, now }) => [accountId, key, now - IDEMPOTENCY_MS]),
  );
  return await Promise.all(requests.map((request, index) => readOutcome(registry, request, rows[index])));
}

async function readOutcome(
  { secrets }: OpenRegistry,
  { key, fingerprint }: IdempotentRequest,
  row: StoredOutcome | undefined,
): Promise<JointOutcome<Outcome>> {
  if (row === undefined) return null;
  if (row.fingerprint !== (await secrets.digest(fingerprint)))
    return { error: new RegistryError('idempotency_mismatch', { code: 'idempotency_mismatch', key }) };
  const outcome: Pick<Outcome, 'value' | 'secret'> = JSON.parse((await secrets.box()).open(row.outcome));
  return { value: { ...outcome, isReplay: true } };
}

async function store(
  { queries, secrets }: OpenRegistry,
  made: readonly { readonly request: IdempotentRequest; readonly value: unknown }[],
): Promise<void> {
  if (made.length === 0) return;
  const { seal } = await secrets.box();
  const rows = made.map(async ({ request: { accountId, key, fingerprint, secret, now }, value }) => {
    // The request may contain credentials of a check.
    const digest = await secrets.digest(fingerprint);
    return { accountId, key, digest, outcome: seal(JSON.stringify({ value, secret })), now };
  });
  const stored = await Promise.all(rows);
  const keys = stored.map(({ accountId, key }) => [accountId, key]);
  const inserts = stored.map(({ accountId, key, digest, outcome, now }) => [
    ...[accountId, key, digest, outcome, now],
  ]);
  const [, , ids] = await Promise.all([
    queries.runEach(DELETE, keys),
    queries.runEach(INSERT, inserts),
    queries.firstEach(FIND_ID, keys),
  ]);
  for (const [index, { accountId, outcome, now }] of stored.entries()) {
    if (outcome.length > LONG_OUTCOME) await queries.run(DELETE_BEYOND_LENGTH(accountId, accountId));
    if ((ids[index]?.id ?? 0) % PRUNE_EVERY !== 0) continue;
    await queries.run(DELETE_OLD(now - IDEMPOTENCY_MS));
    await queries.run(DELETE_BEYOND(accountId, accountId));
  }
}

function unwrap<T>(outcome: NonNullable<JointOutcome<T>>): T {
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** Removes all outcomes, because they can no longer be decrypted. */
export async function forgetIdempotent({ queries }: OpenRegistry): Promise<void> {
  await queries.run(DELETE_ALL());
}
