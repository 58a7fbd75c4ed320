/** Authenticates a request by the key in its `Authorization` header (contract 5; decisions, Keys and limits). */
import { timingSafeEqual } from 'node:crypto';
import type { Cancel, Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { ApiKey, KeyStore } from '../store/ports/keys.ts';
import { type KeyReading, readKey } from './api-keys.ts';

/** The client: anonymous, the bearer of a valid key, or the bearer of an invalid one. */
export type Authentication =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'key'; readonly key: ApiKey }
  | { readonly kind: 'invalid' };

/** Reads `Authorization` headers. */
export interface KeyAuthenticator {
  /** Authenticates a header; undefined: there is none. Rejects only if the registry is unavailable. */
  authenticate(authorization: string | undefined): Promise<Authentication>;
  /** The same from the cache; undefined: call `authenticate`, which queries the registry. */
  peek(authorization: string | undefined): Authentication | undefined;
  /** Stores the last-used times and stops. */
  close(): Promise<void>;
}

/** Options of the authenticator. */
export interface KeyAuthenticatorOptions {
  readonly registry: Pick<KeyStore, 'findKey' | 'touchKeys'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Keys remembered at a time; the one that was looked up longest ago goes first. Default 10,000. */
  readonly rememberedKeys?: number;
}

/** Lifetime of a cached key, milliseconds; a revocation takes effect within a second. */
const BELIEVED_MS = 500;

/** How often the times of last use are written, milliseconds. */
const FLUSH_MS = 5_000;

const ANONYMOUS: Authentication = { kind: 'anonymous' };
const INVALID: Authentication = { kind: 'invalid' };

interface Remembered {
  readonly sha256: Uint8Array;
  readonly key: ApiKey;
  /** Monotonic milliseconds at which the registry was asked. */
  readonly askedAt: number;
}

/** Makes an authenticator. Only good answers are remembered: a key that was made a moment ago works at once. */
export function createKeyAuthenticator(options: KeyAuthenticatorOptions): KeyAuthenticator {
  const { registry, clock, rememberedKeys = 10_000 } = options;
  const remembered = new Map<string, Remembered>();
  const asking = new Map<string, { readonly askedAt: number; readonly answer: Promise<ApiKey | null> }>();
  const uses = createUseLog(options);

  const isFresh = ({ askedAt }: { readonly askedAt: number }) => clock.monotonic() - askedAt < BELIEVED_MS;

  const accept = (key: ApiKey): Authentication => {
    const now = clock.now();
    if (key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= now)) return INVALID;
    uses.note(key.id, now);
    return { kind: 'key', key };
  };

  const recall = (id: string, { sha256 }: KeyReading): Authentication | undefined => {
    const found = remembered.get(id);
    if (found === undefined || !isFresh(found) || !timingSafeEqual(found.sha256, sha256)) return undefined;
    return accept(found.key);
  };

  const remember = (id: string, entry: Remembered) => {
    remembered.delete(id);
    remembered.set(id, entry);
    for (const [oldId, old] of remembered) {
      if (remembered.size <= rememberedKeys && isFresh(old)) break;
      remembered.delete(oldId);
    }
  };

  /** Asks the registry; requests that come with the same key meanwhile share the question. */
  const ask = async (id: string, { sha256 }: KeyReading): Promise<Authentication> => {
    const open = asking.get(id);
    const question =
      open !== undefined && isFresh(open)
        ? open
        : { askedAt: clock.monotonic(), answer: registry.findKey(sha256) };
    asking.set(id, question);
    try {
      const key = await question.answer;
      if (key === null) return INVALID;
      const answer = accept(key);
      if (answer.kind === 'key') remember(id, { sha256, key, askedAt: question.askedAt });
      return answer;
    } finally {
      if (asking.get(id) === question) asking.delete(id);
    }
  };

  return {
    peek(authorization) {
      const credentials = readAuthorization(authorization);
      return 'kind' in credentials ? credentials : recall(idOf(credentials), credentials);
    },
    async authenticate(authorization) {
      const credentials = readAuthorization(authorization);
      if ('kind' in credentials) return credentials;
      const id = idOf(credentials);
      return recall(id, credentials) ?? ask(id, credentials);
    },
    close: () => uses.close(),
  };
}

/** What a header says by itself: a key that must be looked up, or an answer that needs no look-up. */
function readAuthorization(authorization: string | undefined): KeyReading | Authentication {
  if (authorization === undefined) return ANONYMOUS;
  const [, scheme = '', token = ''] = /^ *([^ ]*) *(.*)$/s.exec(authorization) ?? [];
  // Another scheme is meant for another party, such as a proxy, and counts as no credentials.
  if (scheme.toLowerCase() !== 'bearer') return ANONYMOUS;
  return readKey(token.trimEnd()) ?? INVALID;
}

/** A key's place in the maps: by its digest, which tells a watcher of times nothing about the key. */
function idOf({ sha256 }: KeyReading): string {
  return Buffer.from(sha256.buffer, sha256.byteOffset, sha256.byteLength).toString('latin1');
}

/** Gathers times of last use and writes them every few seconds; they are worth no write per request. */
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
      // What came in meanwhile is newer.
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
