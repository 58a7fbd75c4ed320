/** Port of the registry: accounts, their members, API keys and notices. */
import type { Notice } from '../../domain/notice.ts';
import type { DEFAULT_SCOPES, KeyScope, Role } from '../../domain/role.ts';

/** An account of a person. */
export interface Membership {
  readonly accountId: number;
  readonly accountName: string;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly since: number;
}

/** A person of an account. */
export interface Member {
  readonly personId: number;
  readonly name: string;
  readonly role: Role;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Providers with which the person signs in, by name. */
  readonly providers: readonly string[];
  /** The person's ways to sign in on this site. */
  readonly ways: readonly ('passkey' | 'password')[];
}

export interface MemberStore {
  /** The accounts of a person, the first one first. */
  membershipsOf(personId: number): Promise<Membership[]>;
  /** The members of an account, the first one first. */
  membersOf(accountId: number): Promise<Member[]>;
  /**
   * Gives a member another role. Rejects with `not_found` if the person is not a member, with `stale` if they have another role than `seen`
   * (absent: any), and with `last_owner` if the account would have no owner. `now`, epoch milliseconds: if an owner gets a lesser
   * role, a notice says that the valid keys of the account stay; absent: there is none.
   */
  setRole(
    accountId: number,
    personId: number,
    role: Role,
    by?: { readonly seen?: Role; readonly now?: number },
  ): Promise<void>;
  /** Removes a member, and ends their sessions in the account. Rejects as {@link MemberStore.setRole}, and notifies as it does. */
  removeMember(accountId: number, personId: number, now?: number): Promise<void>;
}

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

/** A key before it is stored. */
export interface NewKey {
  readonly accountId: number;
  readonly name: string;
  /** The first characters of the key, by which people distinguish keys; too few to guess the key. */
  readonly prefix: string;
  /** SHA-256 of the key. */
  readonly sha256: Uint8Array;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Its scopes. Absent: {@link DEFAULT_SCOPES}. */
  readonly scopes?: readonly KeyScope[];
  /** Maximum number of valid keys of the account; absent: no limit. */
  readonly maxPerAccount?: number;
}

/** A key without its secret. */
export interface ApiKey extends Omit<NewKey, 'sha256' | 'maxPerAccount' | 'scopes'> {
  readonly id: number;
  readonly accountName: string;
  readonly scopes: readonly KeyScope[];
  /** Epoch milliseconds; null: never used. */
  readonly lastUsedAt: number | null;
  /** Epoch milliseconds; null: valid. */
  readonly revokedAt: number | null;
}

/** API keys, identified by the SHA-256 of their values. */
export interface KeyStore {
  /**
   * Stores a key. Rejects with `not_found` if there is no such account, and with `account_limit` if the account has `maxPerAccount`
   * keys that are valid at `createdAt`; if that is set, only the newest 50 revoked and expired keys of the account are kept.
   */
  createKey(key: NewKey): Promise<ApiKey>;
  /** The key with this SHA-256, even if it is revoked or expired; null: none. Sees writes of other processes at once. */
  findKey(sha256: Uint8Array): Promise<ApiKey | null>;
  /** All keys, or those of one account, oldest first. */
  listKeys(accountId?: number): Promise<ApiKey[]>;
  /** Revokes a key at `now`; false: there is no key with that ID. A second call keeps the first time. */
  revokeKey(id: number, now: number): Promise<boolean>;
  /** The keys that were revoked at `since` or later, as `[id, at]` pairs in no particular order, epoch milliseconds. */
  keysRevokedSince(since: number): Promise<(readonly [number, number])[]>;
  /** Stores when keys were used, as `[id, at]` pairs; the newest time wins. */
  touchKeys(uses: readonly (readonly [number, number])[]): Promise<void>;
}
