/** Port of the registry: accounts and their notices. */
import type { Notice } from '../../domain/refusal.ts';
import type { Member } from './members.ts';

/** An account that owns services and keys. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** An account as operators see it. */
export interface AccountListing extends Account {
  /** The people who sign in to it, the first one first; empty: the account was created on the command line. */
  readonly members: readonly Member[];
  /** Number of keys, including revoked and expired ones. */
  readonly keys: number;
  /** Number of services. */
  readonly services: number;
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

/** Accounts and their notices. */
export interface AccountStore {
  /** Finds or creates the account with that name. */
  ensureAccount(name: string, now: number): Promise<Account>;
  /** Every account, oldest first. */
  listAccounts(): Promise<AccountListing[]>;
  /** Newest first, at most 20. */
  noticesOf(accountId: number): Promise<AccountNotice[]>;
  dropNotice(accountId: number, id: number): Promise<void>;
}
