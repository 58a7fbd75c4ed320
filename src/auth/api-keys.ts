/** Making API keys. */
import type { AccountStore } from '../store/ports/accounts.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';
import { generateKeyText, readKey } from './key-text.ts';

/** A key that is wanted. */
export interface KeyRequest {
  /** The account that owns it: its number, or its name, under which it is made where there is none. */
  readonly account: number | string;
  /** What its owner calls it. */
  readonly name: string;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Keys that work and that the account may have; absent: the operator's word, and no bound. */
  readonly maxPerAccount?: number;
}

/**
 * Makes a key and stores its SHA-256. `key` is the only copy of the secret: show it once and forget it. It works at
 * once, in every process that has the registry open. Throws `account_limit`, and `not_found` where
 * there is no such account.
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
