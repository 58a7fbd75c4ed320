/** API keys. */
import { timingSafeEqual } from 'node:crypto';
import { DEFAULT_SCOPES, readScopes } from '../../../domain/role.ts';
import { type Calls, read, unordered, write } from '../../database/registry-calls.ts';
import { RegistryError } from '../../database/registry-error.ts';
import { type Batch, fromRow, type RegistryStore, sql } from '../../database/registry-store.ts';
import type { Row } from '../../database/schema.ts';
import type { ApiKey, KeyStore, NewKey } from '../../ports/accounts.ts';

/** Maximum number of revoked and expired keys that are kept of an account with a limit of keys. */
const MAX_EXPIRED_KEYS = 50;

const TOUCH: Batch<unknown> = {
  types: ['bigint', 'bigint', 'bigint'],
  sql: 'UPDATE api_keys SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)',
};

export const KEY_CALLS: Calls<KeyStore> = {
  createKey: write(async (store, key) => {
    const { kysely, queries } = store;
    const account = kysely.selectFrom('accounts').select('id').where('id', '=', key.accountId);
    if ((await queries.first(account)) === undefined)
      throw new RegistryError('not_found', { code: 'no_account', account: String(key.accountId) });
    if (key.maxPerAccount !== undefined) await boundKeys(store, key, key.maxPerAccount);
    const written = await queries.first(
      kysely
        .insertInto('api_keys')
        .values({
          account_id: key.accountId,
          name: key.name,
          prefix: key.prefix,
          sha256: key.sha256,
          created_at: key.createdAt,
          expires_at: key.expiresAt,
          scopes: (key.scopes ?? DEFAULT_SCOPES).join(' '),
        })
        .returning('id'),
    );
    const row = await queries.first(selectKeys(store).where('api_keys.id', '=', written?.id ?? 0));
    if (row === undefined) throw new Error(`key ${key.name} was not written`);
    return toKey(row);
  }),
  findKey: read(async (store, sha256) => {
    if (sha256.byteLength !== 32) return null;
    // The index finds rows by the first 8 bytes. The whole digest is compared in constant time (decisions, Keys), so
    // that response times reveal nothing about the other 24 bytes.
    const candidates = await store.queries.all(
      selectKeys(store)
        .select('sha256')
        .where(sql<Uint8Array>`substr(sha256, 1, 8)`, '=', sha256.slice(0, 8)),
    );
    const found = candidates.find((row) => timingSafeEqual(row.sha256, sha256));
    if (found === undefined) return null;
    const { sha256: _, ...key } = found;
    return toKey(key);
  }),
  listKeys: read(async (store, accountId) => {
    const keys = selectKeys(store).orderBy('api_keys.id');
    const wanted = accountId === undefined ? keys : keys.where('account_id', '=', accountId);
    return (await store.queries.all(wanted)).map(toKey);
  }),
  revokeKey: write(async ({ kysely, queries }, id, now) => {
    const revoke = kysely
      .updateTable('api_keys')
      .set((eb) => ({ revoked_at: eb.fn.coalesce('revoked_at', eb.val(now)) }))
      .where('id', '=', id);
    return (await queries.run(revoke)) > 0;
  }),
  keysRevokedSince: read(async ({ kysely, queries }, since) => {
    const rows = await queries.all(
      kysely.selectFrom('api_keys').select(['id', 'revoked_at']).where('revoked_at', '>=', since),
    );
    return rows.map(({ id, revoked_at }) => [id, revoked_at ?? since] as const);
  }),
  touchKeys: unordered(async ({ queries }, uses) => {
    const newest = new Map<number, number>();
    for (const [id, at] of uses) newest.set(id, Math.max(at, newest.get(id) ?? at));
    await queries.runEach(
      TOUCH,
      [...newest].map(([id, at]) => [at, id, at]),
    );
  }),
};

/** Deletes old keys of the account to admit another one, or throws `account_limit`. */
async function boundKeys(
  { kysely, queries }: RegistryStore,
  { accountId, createdAt }: NewKey,
  most: number,
): Promise<void> {
  const keys = await queries.all(
    kysely
      .selectFrom('api_keys')
      .select(['id', 'revoked_at', 'expires_at'])
      .where('account_id', '=', accountId)
      .orderBy('id', 'desc'),
  );
  const over = keys.filter(
    ({ revoked_at, expires_at }) => revoked_at !== null || (expires_at !== null && expires_at <= createdAt),
  );
  if (keys.length - over.length >= most)
    throw new RegistryError('account_limit', { code: 'too_many_keys', max: most });
  const newestTooMany = over[MAX_EXPIRED_KEYS];
  if (newestTooMany === undefined) return;
  await queries.run(
    kysely
      .deleteFrom('api_keys')
      .where('account_id', '=', accountId)
      .where('id', '<=', newestTooMany.id)
      .where((eb) => eb.or([eb('revoked_at', 'is not', null), eb('expires_at', '<=', createdAt)])),
  );
}

/** Scopes of a later version, which this version does not know, allow nothing here. */
function toKey(row: Omit<Row<'api_keys'>, 'sha256'> & { readonly account_name: string }): ApiKey {
  const { scopes, ...key } = fromRow(row);
  const known = scopes.split(' ').flatMap((word) => readScopes([word]) ?? []);
  return { ...key, scopes: known };
}

function selectKeys({ kysely }: RegistryStore) {
  return kysely
    .selectFrom('api_keys')
    .innerJoin('accounts', 'accounts.id', 'api_keys.account_id')
    .select([
      'api_keys.id as id',
      'account_id',
      'accounts.name as account_name',
      'api_keys.name as name',
      'prefix',
      'api_keys.created_at as created_at',
      'last_used_at',
      'expires_at',
      'revoked_at',
      'scopes',
    ]);
}
