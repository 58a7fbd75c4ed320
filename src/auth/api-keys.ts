/** Creates and parses API keys (decisions, Keys and limits). */

import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { KeyScope } from '../domain/role.ts';
import type { AccountStore } from '../store/ports/accounts.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';

export interface KeyRequest {
  /** The owning account: its ID, or its name, under which it is created if it does not exist. */
  readonly account: number | string;
  /** The key's name. */
  readonly name: string;
  /** Epoch milliseconds; null: it does not expire. */
  readonly expiresAt: number | null;
  /** Epoch milliseconds. */
  readonly now: number;
  /** Its scopes. Absent: the default of the registry. */
  readonly scopes?: readonly KeyScope[];
  /** Maximum number of valid keys of the account; absent for the operator, who has no limit. */
  readonly maxPerAccount?: number;
}

/**
 * Creates a key and stores its SHA-256. `key` is the only copy of the secret: show it once and discard it. It is valid at
 * once in every process that has the registry open. Throws `account_limit`, and `not_found` if the account does not exist.
 */
export async function createApiKey(
  registry: AccountStore & KeyStore,
  { account, name, expiresAt, now, scopes, maxPerAccount }: KeyRequest,
  key = generateKeyText(),
): Promise<{ key: string; record: ApiKey }> {
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
    ...(scopes === undefined ? {} : { scopes }),
    ...(maxPerAccount === undefined ? {} : { maxPerAccount }),
  });
  return { key, record };
}

/** The prefix of all keys, by which people and secret scanners recognize them. */
const KEY_PREFIX = 'upb_';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Random characters of a key: 190 bits. */
const SECRET_LENGTH = 32;

/** Characters of the checksum: 62^6 is more than 2^32. */
const CHECKSUM_LENGTH = 6;

/** Bytes below this are distributed evenly over 62 characters; the others are discarded. */
const EVEN_BYTES = 256 - (256 % BASE62.length);

/** Characters of the secret in lists; 166 bits stay unknown. */
const SHOWN_LENGTH = 4;

const FORM = /^upb_[0-9A-Za-z]{38}$/;

/** Generates a key. `random` returns cryptographically random bytes. */
export function generateKeyText(random: (bytes: number) => Uint8Array = randomBytes): string {
  let secret = '';
  while (secret.length < SECRET_LENGTH) {
    for (const byte of random(SECRET_LENGTH)) {
      if (byte < EVEN_BYTES && secret.length < SECRET_LENGTH) secret += BASE62.charAt(byte % BASE62.length);
    }
  }
  return KEY_PREFIX + secret + checksum(secret);
}

/** A well-formed key, which may be unknown. */
export interface KeyReading {
  /** SHA-256 of the whole key with prefix and checksum, 32 bytes. */
  readonly sha256: Uint8Array;
  /** The part that may be shown. */
  readonly shown: string;
}

/** Parses a key without a lookup; null: it is malformed, for example because of a typo. */
export function readKey(text: string): KeyReading | null {
  if (!FORM.test(text)) return null;
  const secret = text.slice(KEY_PREFIX.length, -CHECKSUM_LENGTH);
  if (checksum(secret) !== text.slice(-CHECKSUM_LENGTH)) return null;
  return {
    sha256: hash('sha256', text, 'buffer'),
    shown: text.slice(0, KEY_PREFIX.length + SHOWN_LENGTH),
  };
}

/** The CRC-32 in base 62, the most significant character first, padded with `0`. */
function checksum(secret: string): string {
  let rest = crc32(secret);
  let text = '';
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    text = BASE62.charAt(rest % BASE62.length) + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}
