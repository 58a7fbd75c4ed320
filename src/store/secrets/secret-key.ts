/** The place of the key of secrets: in the setting `secrets.key`, or in a file of the data directory, which a rotation replaces. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveChecksKey } from '../../domain/credential-seal.ts';
import { errorCodeOf } from '../../error.ts';
import { RegistryError } from '../database/registry-error.ts';
import { syncFolder } from '../sqlite/sync-files.ts';

export type KeySource =
  /** Key of the setting `secrets.key`. */
  | { readonly kind: 'setting'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly key: Buffer }
  /** There is no key. */
  | { readonly kind: 'none' };

/** Length of a key, bytes. */
export const KEY_BYTES = 32;

/** The file of the key in a data directory that has no setting for it. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/** The file of a key with which a rotation encrypts everything anew, until it takes the place of {@link keyFile}. */
function newKeyFile(dataDir: string): string {
  return join(dataDir, 'secret.key.new');
}

/** The file of the key before the last rotation, which backups from before need. */
export function formerKeyFile(dataDir: string): string {
  return join(dataDir, 'secret.key.former');
}

/**
 * Finds the key: the setting (64 hexadecimal digits, or base64 of 32 bytes) before the file. Throws `secrets_key` for a
 * file without a valid key.
 */
export function findKey(dataDir: string, setting: string | null): KeySource {
  if (setting !== null) {
    const key = readKeyText(setting);
    if (key === null) throw lostKey('in the setting secrets.key has not the form of one');
    return { kind: 'setting', key };
  }
  let text: string;
  try {
    text = readFileSync(keyFile(dataDir), 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return { kind: 'none' };
    throw lostKey(`in ${keyFile(dataDir)} cannot be read`, error);
  }
  const key = readKeyText(text);
  if (key === null) throw lostKey(`in ${keyFile(dataDir)} has not the form of one`);
  return { kind: 'file', key };
}

/**
 * The key of the credentials of checks: the setting `secrets.checksKey`, else derived from the key of secrets; null: there is
 * none yet. Throws as {@link findKey}.
 */
export function findChecksKey(
  dataDir: string,
  { key, checksKey }: { readonly key: string | null; readonly checksKey: string | null },
): Buffer | null {
  if (checksKey !== null) return readChecksKey(checksKey);
  const found = findKey(dataDir, key);
  return found.kind === 'none' ? null : deriveChecksKey(found.key);
}

/** The key in the setting `secrets.checksKey`. Throws `secrets_key`. */
export function readChecksKey(setting: string): Buffer {
  const key = readKeyText(setting);
  if (key === null) throw lostKey('in the setting secrets.checksKey has not the form of one');
  return key;
}

/** Creates the file with a new key; if another process was first, uses its key. */
export function makeKeyFile(dataDir: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  try {
    writeFileSync(keyFile(dataDir), `${key.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return key;
  } catch (error) {
    const found = errorCodeOf(error) === 'EEXIST' ? findKey(dataDir, null) : null;
    if (found === null || found.kind === 'none') throw error;
    return found.key;
  }
}

export function lostKey(what: string, cause?: unknown): RegistryError {
  return new RegistryError(
    'secrets_key',
    `The key of the secrets of webhooks ${what}. Put back secret.key from a backup of the data directory, or set secrets.key to the key that was used. If it is lost, run "npx upbeat secrets reset": it removes all webhooks, the credentials of checks and the passwords of people, which can no longer be read, and tells the owners.`,
    { cause },
  );
}

/** Reads a key: 64 hexadecimal digits, or base64 of 32 bytes; null: the text is neither. */
export function readKeyText(text: string): Buffer | null {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const bytes = Buffer.from(trimmed, 'base64');
  return /^[A-Za-z0-9+/]{43}=$/.test(trimmed) && bytes.length === KEY_BYTES ? bytes : null;
}

/** Creates a key for a rotation, and writes it to the disk before anything is encrypted with it. */
export function makeNewKey(dataDir: string): Buffer {
  const key = randomBytes(KEY_BYTES);
  writeFileSync(newKeyFile(dataDir), `${key.toString('hex')}\n`, { mode: 0o600, flush: true });
  syncFolder(dataDir);
  return key;
}

/** The key of a rotation that has not ended; null: there is none, or it was not written as a whole. */
export function readNewKey(dataDir: string): Buffer | null {
  const file = newKeyFile(dataDir);
  return existsSync(file) ? readKeyText(readFileSync(file, 'utf8')) : null;
}

/** Puts the key of a rotation into its place; the present one is kept beside it. */
export function adoptNewKey(dataDir: string): void {
  const file = keyFile(dataDir);
  if (existsSync(file)) renameSync(file, formerKeyFile(dataDir));
  renameSync(newKeyFile(dataDir), file);
  syncFolder(dataDir);
}
