/** People of accounts: their identities at providers, and their sessions. */
import type { Account, NewSession, Session } from '../ports/accounts.ts';
import type { RegistryStore } from './registry-store.ts';

/** Longest name of an account, in characters. */
const MAX_NAME_LENGTH = 60;

/**
 * The account of a person whom a provider vouches for; made at the first sign-in. It gets the person's name there, or
 * that with a number where an account has it: a name proves nothing.
 */
export function ensureIdentity(
  store: RegistryStore,
  { provider, subject, name }: { readonly provider: string; readonly subject: string; readonly name: string },
  now: number,
): Account {
  const { kysely, queries } = store;
  const known = queries.first(
    kysely
      .selectFrom('identities')
      .innerJoin('accounts', 'accounts.id', 'identities.account_id')
      .selectAll('accounts')
      .where('provider', '=', provider)
      .where('subject', '=', subject),
  );
  if (known !== undefined) return { id: known.id, name: known.name, createdAt: known.created_at };
  const row = queries.first(
    kysely
      .insertInto('accounts')
      .values({ name: freeName(store, name), created_at: now })
      .returningAll(),
  );
  if (row === undefined) throw new Error('the account was not written');
  queries.run(
    kysely.insertInto('identities').values({ provider, subject, account_id: row.id, created_at: now }),
  );
  return { id: row.id, name: row.name, createdAt: row.created_at };
}

function freeName({ kysely, queries }: RegistryStore, wanted: string): string {
  const name = wanted.replaceAll(/\p{C}/gu, '').trim().slice(0, MAX_NAME_LENGTH) || 'someone';
  const isTaken = (text: string) =>
    queries.first(kysely.selectFrom('accounts').select('id').where('name', '=', text)) !== undefined;
  if (!isTaken(name)) return name;
  for (let number = 2; ; number++) if (!isTaken(`${name}-${number}`)) return `${name}-${number}`;
}

/** Stores a session by the SHA-256 of its token, and forgets those that are over. */
export function createSession({ kysely, queries }: RegistryStore, session: NewSession): void {
  const { sha256, accountId, createdAt, expiresAt } = session;
  queries.run(kysely.deleteFrom('sessions').where('expires_at', '<=', createdAt));
  queries.run(
    kysely
      .insertInto('sessions')
      .values({ sha256, account_id: accountId, created_at: createdAt, expires_at: expiresAt }),
  );
}

/** The session with this SHA-256; null: there is none, or it is over at `now`. */
export function findSession(
  { kysely, queries }: RegistryStore,
  sha256: Uint8Array,
  now: number,
): Session | null {
  const row = queries.first(
    kysely
      .selectFrom('sessions')
      .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
      .select(['account_id', 'name', 'sessions.created_at', 'expires_at'])
      .where('sha256', '=', sha256)
      .where('expires_at', '>', now),
  );
  if (row === undefined) return null;
  return {
    accountId: row.account_id,
    accountName: row.name,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

/** Ends every session of the account. */
export function endSessionsOf({ kysely, queries }: RegistryStore, accountId: number): void {
  queries.run(kysely.deleteFrom('sessions').where('account_id', '=', accountId));
}

/** Ends a session; nothing happens where there is none. */
export function endSession({ kysely, queries }: RegistryStore, sha256: Uint8Array): void {
  queries.run(kysely.deleteFrom('sessions').where('sha256', '=', sha256));
}
