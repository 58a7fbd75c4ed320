/** Authenticates a request by the key in its `Authorization` header (contract 5; decisions, Keys and limits). */
import { timingSafeEqual } from 'node:crypto';
import type { Cancel, Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';
import { refusalOf } from '../store/ports/storage-health.ts';
import { type KeyReading, readKey } from './api-keys.ts';

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
