/** Port of the registry: accounts and their notices. */
import type { Notice } from '../../domain/notice.ts';
import type { Role } from '../../domain/role.ts';
import type { Member } from './members.ts';

/** An account that owns services and keys. */
export interface Account {
  readonly id: number;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Since when the operator trusts it, epoch milliseconds; null: it is not trusted. */
  readonly trustedAt: number | null;
  /** By what it became trusted: a {@link TrustGiver}; null: it is not trusted. */
  readonly trustedBy: string | null;
}

/**
 * By what an account is trusted: the link for the first account, the setting `accounts.trusted`, or `accounts trust` with the name of the
 * operating system's user.
 */
export type TrustGiver = 'setup-link' | 'setting' | `command:${string}`;

export interface AccountListing extends Account {
  /** The people who sign in to it, the first one first; empty: the account was created on the command line. */
  readonly members: readonly Member[];
  /** Number of keys, including revoked and expired ones. */
  readonly keys: number;
  readonly services: number;
}

interface AccountNotice {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  /** In English. */
  readonly text: string;
  /** Null: another version wrote the notice, and this version knows only its text. */
  readonly notice: Notice | null;
}

/** Numbers of what an account has: live services and pages, keys that are not revoked, and all of the others. */
export interface AccountContents {
  readonly services: number;
  readonly keys: number;
  readonly webhooks: number;
  readonly pages: number;
  readonly channels: number;
  readonly rules: number;
  /** Incidents and maintenances that the account wrote itself. */
  readonly incidents: number;
  readonly maintenances: number;
  /** Confirmed subscriptions of visitors to its services and status pages. */
  readonly subscriptions: number;
}

/** The plan of a merge of an account into another one. */
export interface MergePlan {
  readonly from: Account;
  readonly into: Account;
  readonly moved: AccountContents;
  /** The contents of `into` before the merge. */
  readonly before: AccountContents;
  /** Members of `from` with their role in `into`, before (null: none) and after. */
  readonly members: readonly {
    readonly personId: number;
    readonly name: string;
    readonly before: Role | null;
    readonly role: Role;
  }[];
  /** Number of members of `into` before. */
  readonly membersBefore: number;
  /** Domains whose claims move. The word of their proof is another one then. */
  readonly claims: readonly string[];
  /** Domains that both accounts claim; the claim of `from` is dropped. */
  readonly droppedClaims: readonly string[];
  readonly droppedInvitations: number;
}

/** The changes by the setting `accounts.trusted`. */
export interface TrustChanges {
  readonly begun: readonly Account[];
  readonly ended: readonly Account[];
  readonly unknown: readonly string[];
}

export interface AccountStore {
  ensureAccount(name: string, now: number): Promise<Account>;
  /**
   * Trusts an account, which needs no proof of domains then and reaches private addresses, or stops to (`by` null), in one transaction
   * with all of its services. Resolves with the account, which stays as it is where it was trusted already, or was not. Rejects with
   * `not_found`.
   */
  trustAccount(id: number, by: TrustGiver | null, now: number): Promise<Account>;
  /**
   * Trusts the accounts with these names by the setting, and ends the trust of those that only the setting gave and that it no longer
   * names. People who sign in get no account with one of the names. Resolves with what was changed, and the names that no account has.
   */
  trustNamed(names: readonly string[], now: number): Promise<TrustChanges>;
  /** Returns true if the account exists and is trusted. */
  isTrusted(accountId: number): Promise<boolean>;
  /** Removes an account that has nothing, neither members nor keys nor services; resolves with whether it did. */
  removeEmptyAccount(id: number): Promise<boolean>;
  /** Every account, oldest first. */
  listAccounts(): Promise<AccountListing[]>;
}

export interface MergeStore {
  /** The plan of {@link MergeStore.mergeAccounts}. Rejects with `not_found`, and with `not_trusted` if `intoId` alone is trusted. */
  planMerge(fromId: number, intoId: number): Promise<MergePlan>;
  /**
   * Moves services, keys, pages, webhooks, channels, rules, incidents, maintenances, notices, sessions and members of an account
   * to another one, and deletes the account, in one transaction. Alerts that are open go on in their threads. A member of both keeps the greater role. Each live service has an entry in the feed of
   * changes. Positions of feeds and ids stay. Rejects as `planMerge`.
   */
  mergeAccounts(fromId: number, intoId: number, now: number): Promise<MergePlan>;
}

export interface NoticeStore {
  /** Newest first, at most 20. */
  noticesOf(accountId: number): Promise<AccountNotice[]>;
  dropNotice(accountId: number, id: number): Promise<void>;
}
