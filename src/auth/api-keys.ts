/** Creates API keys. */
import type { AccountStore } from '../store/ports/accounts.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';
import { generateKeyText, readKey } from './key-text.ts';

/** The properties of a new key. */
export interface KeyRequest {
  /** The owning account: its ID, or its name, under which it is created if it does not exist. */
  readonly account: number | string;
  /** The key's name. */
  readonly name: string;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Maximum number of valid keys of the account; absent for the operator, who has no limit. */
  readonly maxPerAccount?: number;
}

/**
 * Creates a key and stores its SHA-256. `key` is the only copy of the secret: show it once and discard it. It is valid at
 * once in every process that has the registry open. Throws `account_limit`, and `not_found` if the account does not exist.
 */
export async function createApiKey(
  registry: Pick<AccountStore, 'ensureAccount'> & Pick<KeyStore, 'createKey'>,
  { account, name, expiresAt, now, maxPerAccount }: KeyRequest,
): Promise<{ key: string; record: ApiKey }> {
  const key = generateKeyText();
  const reading = readKey(key);
  if (reading === null) throw new Error('a key was made that cannot be read');
  const accountId = typeof account === 'number' ? account : (await registry.ensureAccount(account, now)).id;
  const record = await registry.createKey({
    accountId,
    name,
    prefix: reading.shown,
    sha256: reading.sha256,
    createdAt: now,
    expiresAt,
    ...(maxPerAccount === undefined ? {} : { maxPerAccount }),
  });
  return { key, record };
}
