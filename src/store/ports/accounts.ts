/** Port of the registry: accounts, their identities, sessions and notices. */
import type { Notice } from '../../domain/refusal.ts';

/** An account that owns services and keys. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** An account as operators see it. */
export interface AccountListing extends Account {
  /** Providers with which its person signs in; empty: the account was created on the command line. */
  readonly providers: readonly string[];
  /** Number of keys, including revoked and expired ones. */
  readonly keys: number;
  /** Number of services. */
  readonly services: number;
}

/** A person at an identity provider. */
export interface Identity {
  readonly provider: string;
  readonly subject: string;
  /** The name that the provider returns. */
  readonly name: string;
}

/** A signed-in browser, as it is stored. */
export interface NewSession {
  /** SHA-256 of its token. */
  readonly sha256: Uint8Array;
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** A session with the name of its account. */
export interface Session extends Omit<NewSession, 'sha256'> {
  readonly accountName: string;
}

/** A message to the owner of an account. */
export interface AccountNotice {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** In English. */
  readonly text: string;
  /** Null: another version wrote the notice, and this version knows only its text. */
  readonly notice: Notice | null;
}

/** Accounts and their sessions. */
export interface AccountStore {
  /** Finds or creates the account with that name. */
  ensureAccount(name: string, now: number): Promise<Account>;
  /** Every account, oldest first. */
  listAccounts(): Promise<AccountListing[]>;
  /**
   * The account of a person, created at the first sign-in. Its name is the one that the provider returns, with a number
   * appended if another account has that name.
   */
  ensureIdentity(identity: Identity, now: number): Promise<Account>;
  /** Stores a session, and deletes expired sessions. */
  createSession(session: NewSession): Promise<void>;
  /** Null: there is no session with this SHA-256, or it has expired at `now`. */
  findSession(sha256: Uint8Array, now: number): Promise<Session | null>;
  endSession(sha256: Uint8Array): Promise<void>;
  /** Ends every session of an account. */
  endSessionsOf(accountId: number): Promise<void>;
  /** Newest first, at most 20. */
  noticesOf(accountId: number): Promise<AccountNotice[]>;
  dropNotice(accountId: number, id: number): Promise<void>;
}
