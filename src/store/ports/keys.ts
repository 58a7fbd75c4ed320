/** Port of the registry: API keys (decisions, Keys). */
import type { DEFAULT_SCOPES, KeyScope } from '../../domain/role.ts';

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
