/**
 * Encrypts secrets in the database that must be read again, such as those that sign webhooks. It uses AES-256-GCM with
 * a key outside of the database, so that a copy of the database alone does not reveal them.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  deriveChecksKey,
  NONCE_BYTES,
  openCredential,
  sealCredential,
} from '../../domain/credential-seal.ts';
import { errorCodeOf } from '../../error.ts';
import type { CredentialToSeal } from '../ports/credentials.ts';
import { getFact, setFact } from './fact-rows.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';

/** Encrypts and decrypts with one key. */
export interface SecretBox {
  seal(secret: string): string;
  /** Decrypts a sealed text; returns other texts unchanged. Throws `secrets_key` if the key is wrong. */
  open(text: string): string;
}

/** Where the key is configured. */
export type KeySource =
  /** Key of the setting `secrets.key`. */
  | { readonly kind: 'setting'; readonly key: Buffer }
  | { readonly kind: 'file'; readonly key: Buffer }
  /** There is no key. */
  | { readonly kind: 'none' };

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const TAG_BYTES = 16;
const PREFIX = 'sealed:v1:';

/** The file of the key in a data directory that has no setting for it. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'secret.key');
}

/** Whether a text is sealed. */
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

/** The error for a missing or wrong key. */
function lostKey(what: string, cause?: unknown): RegistryError {
  return new RegistryError(
    'secrets_key',
    `The key of the secrets of webhooks ${what}. Put back secret.key from a backup of the data directory, or set secrets.key to the key that was used. If it is lost, run "npx upbeat secrets reset": it removes all webhooks, the credentials of checks and the passwords of people, which can no longer be read, and tells the owners.`,
    { cause },
  );
}

/** 64 hexadecimal digits, or base64 of 32 bytes; null: neither. */
function readKeyText(text: string): Buffer | null {
  const trimmed = text.trim();
  if (/^[0-9a-f]{64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex');
  const bytes = Buffer.from(trimmed, 'base64');
  return /^[A-Za-z0-9+/]{43}=$/.test(trimmed) && bytes.length === KEY_BYTES ? bytes : null;
}

/** The secrets of a registry, for its thread. */
export type Secrets = ReturnType<typeof createSecrets>;

/** Name of the fact with a sealed text that detects a wrong key before it is used. */
const CHECK_FACT = 'secrets-check';
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
) {
  let known: { readonly box: SecretBox; readonly key: Buffer; readonly digestKey: KeyObject } | null = null;

  /** The key and its box. The first call reads or creates the key. Throws `secrets_key`. */
  const open = async () => {
    if (known !== null) return known;
    const word = await getFact(store, CHECK_FACT);
    const found = findKey(dataDir, setting);
    // If there are sealed secrets, a new key would only hide that the old one is missing.
    if (found.kind === 'none' && word !== null) throw lostKey('is missing');
    const key = found.kind === 'none' ? makeKeyFile(dataDir) : found.key;
    const made = createSecretBox(key);
    if (word !== null) made.open(word);
    known = {
      box: made,
      key,
      digestKey: createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'upbeat digests', KEY_BYTES))),
    };
    return known;
  };
  const box = async (): Promise<SecretBox> => (await open()).box;

  return {
    /** The box of webhooks' secrets. Throws `secrets_key`. */
    box,
    /**
     * A digest by which texts with secrets in them can be compared. It needs the key, so that a copy of the database alone is not
     * enough to try passwords on it. Throws `secrets_key`.
     */
    async digest(text: string): Promise<string> {
      const { digestKey } = await open();
      return createHmac('sha256', digestKey).update(text).digest('base64url');
    },
    /** Encrypts credentials of checks. Throws `secrets_key`. */
    async sealCredentials(credentials: readonly CredentialToSeal[]): Promise<string[]> {
      const key = checksSetting === null ? deriveChecksKey((await open()).key) : readChecksKey(checksSetting);
      return credentials.map(({ place, text }) => sealCredential(key, place, text, randomBytes(NONCE_BYTES)));
    },
    /** Whether each sealed text is that credential, sealed for that place. */
    matchCredentials(credentials: readonly (CredentialToSeal & { readonly sealed: string })[]): boolean[] {
      const key = this.checksKey();
      return credentials.map(({ place, text, sealed }) => {
        const reading = openCredential(key, place, sealed);
        const [known, given] = [reading.ok ? Buffer.from(reading.text) : null, Buffer.from(text)];
        return known !== null && known.length === given.length && timingSafeEqual(known, given);
      });
    },
    /** The key of credentials of checks, if there is one; null: there is none, or it cannot be read. */
    checksKey(): Buffer | null {
      try {
        return findChecksKey(dataDir, { key: setting, checksKey: checksSetting });
      } catch {
        return null;
      }
    },
    /** Verifies the key, and creates it at the first start. Throws `secrets_key`. */
    async check(): Promise<void> {
      await box();
    },
    /**
     * Encrypts secrets that an earlier version stored in clear text, inside the caller's transaction; returns their
     * number.
     */
    async sealClear(writable: RegistryStore): Promise<number> {
      const { seal } = await box();
      if ((await getFact(writable, CHECK_FACT)) === null)
        await setFact(writable, CHECK_FACT, seal(CHECK_WORD));
      const { kysely, queries } = writable;
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
    /** Deletes the record of the previous key, inside the caller's transaction, so that another key is accepted. */
    async forgetKey({ kysely, queries }: RegistryStore): Promise<void> {
      known = null;
      await queries.run(kysely.deleteFrom('facts').where('name', '=', CHECK_FACT));
    },
  };
}
