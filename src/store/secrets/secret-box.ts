/**
 * Encrypts secrets in the database that must be read again, such as those that sign webhooks. It uses AES-256-GCM with
 * a key outside of the database, so that a copy of the database alone does not reveal them.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  deriveChecksKey,
  deriveKey,
  NONCE_BYTES,
  openCredential,
  sealCredential,
} from '../../domain/credential-seal.ts';
import { errorCodeOf } from '../../error.ts';
import { getFact, setFact } from '../database/fact-rows.ts';
import type { KeyChange, SecretBox, Secrets } from '../database/registry-calls.ts';
import { RegistryError } from '../database/registry-error.ts';
import type { RegistryStore } from '../database/registry-store.ts';
import type { CredentialToSeal } from '../ports/services.ts';
import { syncFolder } from '../sqlite/sync-files.ts';

type KeySource =
  /** Key of the setting `secrets.key`. */
  | { readonly kind: 'setting'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly key: Buffer }
  /** There is no key. */
  | { readonly kind: 'none' };

/** Length of a key, bytes. */
const KEY_BYTES = 32;

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
function readChecksKey(setting: string): Buffer {
  const key = readKeyText(setting);
  if (key === null) throw lostKey('in the setting secrets.checksKey has not the form of one');
  return key;
}

/** Creates the file with a new key; if another process was first, uses its key. */
function makeKeyFile(dataDir: string): Buffer {
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

function lostKey(what: string, cause?: unknown): RegistryError {
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
function readNewKey(dataDir: string): Buffer | null {
  const file = newKeyFile(dataDir);
  return existsSync(file) ? readKeyText(readFileSync(file, 'utf8')) : null;
}

/** Puts the key of a rotation into its place; the present one is kept beside it. */
function adoptNewKey(dataDir: string): void {
  const file = keyFile(dataDir);
  if (existsSync(file)) renameSync(file, formerKeyFile(dataDir));
  renameSync(newKeyFile(dataDir), file);
  syncFolder(dataDir);
}

const ALGORITHM = 'aes-256-gcm';
const TAG_BYTES = 16;
const PREFIX = 'sealed:v1:';

function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** Creates the box with a key of 32 bytes. */
export function createSecretBox(keyBytes: Buffer): SecretBox {
  // Given as bytes, the key would be converted for each text.
  const key = createSecretKey(keyBytes);
  return {
    seal(secret) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, key, nonce);
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
    },
    open(text) {
      if (!isSealed(text)) return text;
      const bytes = Buffer.from(text.slice(PREFIX.length), 'base64');
      try {
        const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const rest = bytes.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(rest), decipher.final()]).toString('utf8');
      } catch (error) {
        throw lostKey('does not fit the secrets in the database', error);
      }
    },
  };
}

/** Facts that are secrets: they are sealed in the database. */
const SECRET_FACTS: readonly string[] = ['domain-proof-secret'];
/** A fact of earlier versions, which derived passes from it in place of the key. */
const FORMER_SECRET_FACT = 'sign-in-secret';

/** Name of the fact with a sealed text that detects a wrong key before it is used. */
export const CHECK_FACT = 'secrets-check';
const CHECK_WORD = 'upbeat';

/**
 * Creates the secrets of a registry. `store` reads facts; `setting` is `secrets.key`; null: the key is in the data
 * directory. `checksSetting` is `secrets.checksKey`; null: that key is derived.
 */
export function createSecrets(
  store: RegistryStore,
  dataDir: string,
  setting: string | null,
  checksSetting: string | null = null,
): Secrets {
  let known: { readonly box: SecretBox; readonly key: Buffer; readonly digestKey: KeyObject } | null = null;

  /** The key and its box. The first call reads or creates the key. Throws `secrets_key`. */
  const open = async () => {
    if (known !== null) return known;
    const key = keyFor(await getFact(store, CHECK_FACT));
    known = { box: createSecretBox(key), key, digestKey: digestKeyOf(key) };
    return known;
  };
  /** The key that opens the sealed word; null: there is none yet, and the first key is created. */
  const keyFor = (word: string | null): Buffer => {
    const found = findKey(dataDir, setting);
    if (word === null) return found.kind === 'none' ? makeKeyFile(dataDir) : found.key;
    if (found.kind !== 'none' && opens(found.key, word)) return found.key;
    const next = setting === null ? readNewKey(dataDir) : null;
    if (next !== null && opens(next, word)) {
      // A rotation was interrupted after its commit.
      adoptNewKey(dataDir);
      return next;
    }
    // If there are sealed secrets, another key would only hide that the right one is missing.
    throw lostKey(found.kind === 'none' ? 'is missing' : 'does not fit the secrets in the database');
  };
  const box = async (): Promise<SecretBox> => (await open()).box;

  return {
    box,
    async digest(text: string): Promise<string> {
      return digestWith((await open()).digestKey, text);
    },
    async sealCredentials(credentials: readonly CredentialToSeal[]): Promise<string[]> {
      const key = checksSetting === null ? deriveChecksKey((await open()).key) : readChecksKey(checksSetting);
      return credentials.map(({ place, text }) => sealCredential(key, place, text, randomBytes(NONCE_BYTES)));
    },
    matchCredentials(credentials: readonly (CredentialToSeal & { readonly sealed: string })[]): boolean[] {
      const key = this.checksKey();
      return credentials.map(({ place, text, sealed }) => {
        const reading = openCredential(key, place, sealed);
        const [known, given] = [reading.ok ? Buffer.from(reading.text) : null, Buffer.from(text)];
        return known !== null && known.length === given.length && timingSafeEqual(known, given);
      });
    },
    checksKey(): Buffer | null {
      try {
        return findChecksKey(dataDir, { key: setting, checksKey: checksSetting });
      } catch {
        return null;
      }
    },
    async readFact(store: RegistryStore, name: string): Promise<string | null> {
      const value = await getFact(store, name);
      return value === null || !isSealed(value) || name === CHECK_FACT ? value : (await box()).open(value);
    },
    async writeFact(writable: RegistryStore, name: string, value: string): Promise<void> {
      await setFact(writable, name, SECRET_FACTS.includes(name) ? (await box()).seal(value) : value);
    },
    async check(): Promise<void> {
      await box();
    },
    async sealClear(writable: RegistryStore): Promise<number> {
      const { seal } = await box();
      if ((await getFact(writable, CHECK_FACT)) === null)
        await setFact(writable, CHECK_FACT, seal(CHECK_WORD));
      for (const name of SECRET_FACTS) {
        const value = await getFact(writable, name);
        if (value !== null && !isSealed(value)) await setFact(writable, name, seal(value));
      }
      const { kysely, queries } = writable;
      await queries.run(kysely.deleteFrom('facts').where('name', '=', FORMER_SECRET_FACT));
      const webhooks = await queries.all(kysely.selectFrom('webhooks').select(['id', 'secret']));
      const clear = webhooks.filter(({ secret }) => !isSealed(secret));
      for (const { id, secret } of clear)
        await queries.run(
          kysely
            .updateTable('webhooks')
            .set({ secret: seal(secret) })
            .where('id', '=', id),
        );
      return clear.length;
    },
    async changeTo(newKey: Buffer): Promise<KeyChange> {
      const present = await open();
      const [{ seal }, digestKey] = [createSecretBox(newKey), digestKeyOf(newKey)];
      return {
        open: present.box.open,
        reseal: (text) => seal(present.box.open(text)),
        digestBefore: (text) => digestWith(present.digestKey, text),
        digestAfter: (text) => digestWith(digestKey, text),
      };
    },
    async recordKey(writable: RegistryStore, newKey: Buffer): Promise<void> {
      for (const name of SECRET_FACTS) {
        const value = await getFact(writable, name);
        if (value !== null)
          await setFact(writable, name, createSecretBox(newKey).seal((await box()).open(value)));
      }
      await setFact(writable, CHECK_FACT, createSecretBox(newKey).seal(CHECK_WORD));
      known = null;
    },
    async forgetKey({ kysely, queries }: RegistryStore): Promise<void> {
      known = null;
      await queries.run(kysely.deleteFrom('facts').where('name', 'in', [CHECK_FACT, ...SECRET_FACTS]));
    },
  };
}

function opens(key: Buffer, word: string): boolean {
  try {
    createSecretBox(key).open(word);
    return true;
  } catch {
    return false;
  }
}

function digestKeyOf(key: Buffer): KeyObject {
  return createSecretKey(deriveKey(key, 'digests'));
}

function digestWith(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
