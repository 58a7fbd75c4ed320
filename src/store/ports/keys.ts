/** Port of the registry: API keys (decisions, Keys). */

/** A key before it is stored. */
export interface NewKey {
  readonly accountId: number;
  readonly name: string;
  /** The first characters of the key, by which people tell keys apart; never enough to guess it. */
  readonly prefix: string;
  /** SHA-256 of the key. */
  readonly sha256: Uint8Array;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
  /** How many valid keys the account may have; absent: any number. */
  readonly maxPerAccount?: number;
}

/** A key without its secret. */
export interface ApiKey extends Omit<NewKey, 'sha256' | 'maxPerAccount'> {
  readonly id: number;
  readonly accountName: string;
  /** Epoch milliseconds; null: never used. */
  readonly lastUsedAt: number | null;
  /** Epoch milliseconds; null: valid. */
  readonly revokedAt: number | null;
}

/** API keys by the SHA-256 of their values. */
export interface KeyStore {
  /**
   * Stores a key. Rejects with `not_found` if there is no such account, and with `account_limit` if the account has
   * `maxPerAccount` keys that are valid at `createdAt`; with that bound, the newest 50 of its revoked and expired keys are
   * kept.
   */
  createKey(key: NewKey): Promise<ApiKey>;
  /** The key with this SHA-256, revoked and expired ones included; null: none. Sees other processes' writes at once. */
  findKey(sha256: Uint8Array): Promise<ApiKey | null>;
  /** Oldest first; of one account if it is given. */
  listKeys(accountId?: number): Promise<ApiKey[]>;
  /** Revokes a key at `now`; false: there is none of that id. A second call keeps the first time. */
  revokeKey(id: number, now: number): Promise<boolean>;
  /** Stores when keys were used, as `[id, at]` pairs; the newest time wins. */
  touchKeys(uses: readonly (readonly [number, number])[]): Promise<void>;
}
