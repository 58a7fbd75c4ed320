/** Creates API keys. */

import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { AccountStore } from '../store/ports/accounts.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';

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

/** What every key begins with, so that people and secret scanners know it. */
export const KEY_PREFIX = 'upb_';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random characters of a key: 190 bits. */
const SECRET_LENGTH = 32;

/** Characters of the checksum: 62 to the power of 6 is more than 2 to the power of 32. */
const CHECKSUM_LENGTH = 6;

/** Bytes below this are spread evenly over 62 characters; the others are thrown away. */
const EVEN_BYTES = 256 - (256 % BASE62.length);

/** Characters of the secret that people see in lists; 166 bits stay unknown. */
const SHOWN_LENGTH = 4;

const FORM = /^upb_[0-9A-Za-z]{38}$/;

/** Makes a key. `random` gives that many bytes of cryptographic chance; tests hand in their own. */
export function generateKeyText(random: (bytes: number) => Uint8Array = randomBytes): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH)) {
      if (byte < EVEN_BYTES && secret.length < SECRET_LENGTH) secret += BASE62.charAt(byte % BASE62.length);
    }
  }
  return KEY_PREFIX + secret + checksum(secret);
}

/** A key that is well formed; whether it is known is another question. */
export interface KeyReading {
  /** Of the whole key, prefix and checksum included: 32 bytes. */
  readonly sha256: Uint8Array;
  /** What may be shown of it. */
  readonly shown: string;
}

/** Reads a key without a look-up; null: a form that was never given out, such as one with a typo. */
export function readKey(text: string): KeyReading | null {
  if (!FORM.test(text)) return null;
  const secret = text.slice(KEY_PREFIX.length, -CHECKSUM_LENGTH);
  if (checksum(secret) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return {
    sha256: hash('sha256', text, 'buffer'),
    shown: text.slice(0, KEY_PREFIX.length + SHOWN_LENGTH),
  };
}

/** Base62 of the CRC-32, the most significant character first, filled up with `0`. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = BASE62.charAt(rest % BASE62.length) + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}
