/** API keys: how one is made and parsed, and how a request is authenticated by that in its `Authorization` header (contract 5; decisions, Keys and limits). */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Cancel, Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { KeyScope } from '../domain/role.ts';
import type { Log } from '../log.ts';
import type { AccountStore, ApiKey, KeyStore } from '../store/ports/accounts.ts';
import { refusalOf } from '../store/ports/storage-health.ts';

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
  if (!text.endsWith(checksum(secret))) return null;
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

/** The client: anonymous, the bearer of a valid key, or the bearer of an invalid one. */
type Authentication =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly key: ApiKey }
  | { readonly kind: 'invalid' };

interface KeyAuthenticatorOptions {
  readonly registry: KeyStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Maximum number of cached keys; default 10,000. */
  readonly maxCachedKeys?: number;
  /**
   * Returns true if the key with this ID is known to be revoked, asked while the registry cannot be read. Never rejects.
   * Default: never known.
   */
  readonly isRevoked?: (keyId: number) => Promise<boolean>;
}

/** Lifetime of a cached key, milliseconds; a revocation takes effect within a second. */
const CACHE_MS = 500;
/** The same while the registry cannot be read: what it says is still known. */
const CACHE_WITHOUT_REGISTRY_MS = 3_600_000;

/** Interval of the writes of last-used times, milliseconds. */
const FLUSH_MS = 5_000;

const ANONYMOUS: Authentication = { kind: 'anonymous' };
const INVALID: Authentication = { kind: 'invalid' };

interface CachedKey {
  readonly sha256: Uint8Array;
  readonly key: ApiKey;
  /** Time of the query, monotonic milliseconds. */
  readonly readAt: number;
}

/** Creates what reads `Authorization` headers. Only valid keys are cached, so that a new key works at once. */
export function createKeyAuthenticator(options: KeyAuthenticatorOptions) {
  const { registry, clock, maxCachedKeys = 10_000, isRevoked = async () => false } = options;
  const cached = new Map<string, CachedKey>();
  const queries = new Map<string, { readonly readAt: number; readonly key: Promise<ApiKey | null> }>();
  const uses = createUseLog(options);

  const isFresh = ({ readAt }: { readonly readAt: number }) => clock.monotonic() - readAt < CACHE_MS;

  const isKnown = ({ readAt }: CachedKey) => clock.monotonic() - readAt < CACHE_WITHOUT_REGISTRY_MS;

  const accept = (key: ApiKey): Authentication => {
    const now = clock.now();
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) return INVALID;
    uses.note(key.id, now);
    return { kind: 'key', key };
  };

  const fromCache = (
    id: string,
    { sha256 }: KeyReading,
    isUsable: (found: CachedKey) => boolean = isFresh,
  ): Authentication | undefined => {
    const found = cached.get(id);
    if (found === undefined || !isUsable(found) || !timingSafeEqual(found.sha256, sha256)) return undefined;
    return accept(found.key);
  };

  const cache = (id: string, entry: CachedKey) => {
    cached.delete(id);
    cached.set(id, entry);
    for (const [oldId, old] of cached) {
      if (cached.size <= maxCachedKeys && isKnown(old)) break;
      cached.delete(oldId);
    }
  };

  /** Queries the registry; concurrent requests with the same key share the query. */
  const lookUp = async (id: string, reading: KeyReading): Promise<Authentication> => {
    const { sha256 } = reading;
    const open = queries.get(id);
    const query =
      open !== undefined && isFresh(open)
        ? open
        : { readAt: clock.monotonic(), key: registry.findKey(sha256) };
    queries.set(id, query);
    try {
      const key = await query.key;
      const authentication = key === null ? INVALID : accept(key);
      if (key !== null && authentication.kind === 'key') cache(id, { sha256, key, readAt: query.readAt });
      else cached.delete(id);
      return authentication;
    } catch (error) {
      const known = refusalOf(error) === null ? undefined : fromCache(id, reading, isKnown);
      if (known === undefined) throw error;
      if (known.kind !== 'key' || !(await isRevoked(known.key.id))) return known;
      // Redis may be unavailable at the next request.
      const found = cached.get(id);
      if (found !== undefined) cached.set(id, { ...found, key: { ...found.key, revokedAt: clock.now() } });
      return INVALID;
    } finally {
      if (queries.get(id) === query) queries.delete(id);
    }
  };

  return {
    /** As `authenticate`, from the cache; undefined: call `authenticate`, which queries the registry. */
    peek(authorization: string | undefined): Authentication | undefined {
      const credentials = readAuthorization(authorization);
      return 'kind' in credentials ? credentials : fromCache(idOf(credentials), credentials);
    },
    /** Authenticates a header; undefined: there is none. Rejects only if the registry is unavailable. */
    async authenticate(authorization: string | undefined): Promise<Authentication> {
      const credentials = readAuthorization(authorization);
      if ('kind' in credentials) return credentials;
      const id = idOf(credentials);
      return fromCache(id, credentials) ?? lookUp(id, credentials);
    },
    /** Stores the last-used times and stops. */
    close: (): Promise<void> => uses.close(),
  };
}

/** Parses a header: a key to look up, or a result without a lookup. */
function readAuthorization(authorization: string | undefined): KeyReading | Authentication {
  if (authorization === undefined) return ANONYMOUS;
  const [, scheme = '', token = ''] = /^ *([^ ]*) *(.*)$/s.exec(authorization) ?? [];
  // Another scheme is for another party, such as a proxy, and counts as no credentials.
  if (scheme.toLowerCase() !== 'bearer') return ANONYMOUS;
  return readKey(token.trimEnd()) ?? INVALID;
}

/** The index of a key in the maps: its digest, whose timing reveals nothing about the key. */
function idOf({ sha256 }: KeyReading): string {
  return Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('latin1');
}

/** Collects last-used times and writes them every few seconds instead of with each request. */
function createUseLog({ registry, clock, log }: KeyAuthenticatorOptions) {
  let uses = new Map<number, number>();
  let failing = false;
  const flush = async () => {
    if (uses.size === 0) return;
    const written = uses;
    uses = new Map();
    try {
      await registry.touchKeys([...written]);
      failing = false;
    } catch (error) {
      if (!failing)
        log.warn({ error, keys: written.size }, 'last-used times of API keys could not be stored; retrying');
      failing = true;
      // Times since then are newer.
      uses = new Map([...written, ...uses]);
    }
  };
  const cancel: Cancel = clock.every(FLUSH_MS, () => void flush());
  return {
    note: (keyId: number, at: number) => void uses.set(keyId, at),
    async close() {
      cancel();
      await flush();
    },
  };
}

interface RevokedKeysOptions {
  readonly registry: KeyStore;
  /** Returns true if a process is cut off from the registry. */
  readonly isNeeded: () => boolean;
  readonly clock: Clock;
}

interface RevokedKeys {
  /** The time of each key's revocation, epoch milliseconds, by its ID; empty while they are not needed. */
  all(): ReadonlyMap<number, number>;
  stop(): void;
}

const POLL_MS = 1_000;
/** A process accepts a known key for an hour without the registry; the second hour is for clocks that differ. */
const SPAN_MS = 2 * HOUR_MS;
const NO_KEYS: ReadonlyMap<number, number> = new Map();

/** Reads the keys every second while they are needed. */
export function watchRevokedKeys({ registry, isNeeded, clock }: RevokedKeysOptions): RevokedKeys {
  let keys = NO_KEYS;
  let isReading = false;
  async function read(): Promise<void> {
    isReading = true;
    try {
      keys = new Map(await registry.keysRevokedSince(clock.now() - SPAN_MS));
    } catch {
      // The registry logs it. What was read stays.
    }
    isReading = false;
  }
  const stop = clock.every(POLL_MS, () => {
    if (!isNeeded()) keys = NO_KEYS;
    else if (!isReading) void read();
  });
  return { all: () => keys, stop };
}
