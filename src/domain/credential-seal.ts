/**
 * Encrypts credentials of checks for the registry, with AES-256-GCM. A sealed text can be read only for the service and the
 * destination that it was sealed for, since both are associated data of the encryption (docs/adr/0023-credentials-of-checks.md).
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync } from 'node:crypto';

export interface CredentialPlace {
  readonly domain: string;
  /** Kind of the check. */
  readonly kind: string;
  /**
   * The destination of the credentials of the kind: scheme and port at the domain, or the origin of another URL, and whom the
   * check trusts.
   */
  readonly destination: string;
  /** Name of the setting. */
  readonly setting: string;
}

/** A credential, or why it cannot be read. */
export type CredentialReading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: CredentialProblem };

/**
 * `no_key`: this node has no key. `other_key`: it was sealed with another key. `changed`: it was sealed for another service or
 * destination, or has been changed.
 */
export type CredentialProblem = 'no_key' | 'other_key' | 'changed';

/** Credentials of a check that cannot be read. */
export interface UnreadableCredentials {
  readonly domain: string;
  readonly problem: CredentialProblem;
}

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D, 8.2: a nonce of 96 bits. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** The format of sealed credentials: prefix, name of the key, and nonce, tag and encrypted text in base64. */
const SEALED = /^check:v1:([0-9a-f]{16}):([A-Za-z0-9+/=]+)$/;

/** Derives the key of one use from the key of `secrets.key` by HKDF (RFC 5869); both have 32 bytes. */
export function deriveKey(secretsKey: Uint8Array, use: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretsKey, '', `upbeat ${use}`, 32));
}

/** Derives the key of credentials. */
export function deriveChecksKey(secretsKey: Uint8Array): Buffer {
  return deriveKey(secretsKey, 'credentials of checks');
}

/** Encrypts a text with a key of 32 bytes. `nonce`: random bytes that are used once, {@link NONCE_BYTES} of them. */
export function sealCredential(
  key: Uint8Array,
  place: CredentialPlace,
  text: string,
  nonce: Uint8Array,
): string {
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  cipher.setAAD(bytesOf(place));
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const bytes = Buffer.concat([nonce, cipher.getAuthTag(), encrypted]);
  return `check:v1:${nameOfKey(key)}:${bytes.toString('base64')}`;
}

/** Decrypts what {@link sealCredential} has made. `key` null: there is none. */
export function openCredential(
  key: Uint8Array | null,
  place: CredentialPlace,
  sealed: string,
): CredentialReading {
  if (key === null) return { ok: false, problem: 'no_key' };
  const [, keyName, base64 = ''] = SEALED.exec(sealed) ?? [];
  if (keyName !== undefined && keyName !== nameOfKey(key)) return { ok: false, problem: 'other_key' };
  const bytes = Buffer.from(base64, 'base64');
  try {
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(bytesOf(place));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const encrypted = bytes.subarray(NONCE_BYTES + TAG_BYTES);
    return { ok: true, text: Buffer.concat([decipher.update(encrypted), decipher.final()]).toString('utf8') };
  } catch {
    return { ok: false, problem: 'changed' };
  }
}

/** Returns true if a sealed text was made with the key. */
export function isKeyOf(key: Uint8Array, sealed: string): boolean {
  return SEALED.exec(sealed)?.[1] === nameOfKey(key);
}

function bytesOf({ domain, kind, destination, setting }: CredentialPlace): Buffer {
  return Buffer.from(JSON.stringify([domain, kind, destination, setting]));
}

function nameOfKey(key: Uint8Array): string {
  return hash('sha256', Buffer.concat([Buffer.from('upbeat name of a key'), key]), 'hex').slice(0, 16);
}
