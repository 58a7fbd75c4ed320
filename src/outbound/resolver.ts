/**
 * Resolves names: the hosts file, then a cache, then name servers by the client of the thread.
 * `dns.lookup` is never used: its four threads are shared by the whole process, and one dead zone would falsify
 * every timing.
 */
import { BoundedMap } from '../async/bounded-map.ts';
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';
import { createHostsLookup } from './hosts-file.ts';
import { createNameClient, type NameClient, type NameResult, type PendingQuery } from './name-client.ts';
import type { NameRecord } from './name-message.ts';
import { createServerList } from './name-socket.ts';

/** The result of a look-up of a name in one family. */
export type Lookup =
  | {
      readonly kind: 'addresses';
      readonly addresses: readonly string[];
      /** False where the hosts file or the cache knew it, so that no query was sent. */
      readonly queried: boolean;
    }
  /** The name has none: it does not exist, or has no records of this family. `code` is that of node:dns. */
  | { readonly kind: 'none'; readonly code: string }
  /** No usable response. `ownFault`: no name server responded at all, so it says nothing about the name. */
  | { readonly kind: 'failed'; readonly code: string; readonly ownFault: boolean };

/** Settings of a resolver. */
export interface ResolverSettings {
  /** Name servers, each `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** Default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** Instead of the system's name servers, for tests; called whenever they are read again. */
  readonly systemServers?: () => readonly string[];
  readonly clock?: Clock;
}

/** One of these a thread. */
export type Resolver = ReturnType<typeof createResolver>;

/** Upper bound for the time to live of a response. */
const MAX_TTL_MS = 300_000;
const MAX_CACHED = 20_000;

/** A query without a response ends after the attempts that wait for it, with all time that was returned to them. */
const MARGIN_MS = 50;

/** Codes that say something about the name or its zone; all others mean that no name server was reached. */
const SPOKEN_CODES = new Set(['ESERVFAIL', 'EBADRESP']);

interface Cached {
  readonly addresses: readonly string[];
  readonly expiresAt: number;
}

/** A query whose result several attempts wait for. */
interface SharedQuery {
  readonly query: PendingQuery;
  readonly lookup: Promise<Lookup>;
}

/** Opens a resolver. Throws where a name server of the settings is no `ip:port`. */
export function createResolver(settings: ResolverSettings) {
  const { nameservers, hostsFile = '/etc/hosts', systemServers, clock = systemClock } = settings;
  const client = createNameClient(createServerList(nameservers, clock, systemServers), clock);
  const inHosts = createHostsLookup(hostsFile, clock);
  const cache = new BoundedMap<string, Cached>(MAX_CACHED);
  const inFlight = new Map<string, SharedQuery>();
  const silence = watchSilence(client, clock);

  const remember = (key: string, records: readonly NameRecord[], addresses: readonly string[]) => {
    const ttlMs = Math.min(MAX_TTL_MS, ...records.map((record) => record.ttl * 1000));
    if (ttlMs <= 0) return;
    cache.set(key, { addresses, expiresAt: clock.monotonic() + ttlMs });
  };

  const read = (key: string, askedAt: number, answer: NameResult): Lookup => {
    if (answer.kind === 'none') return answer;
    if (answer.kind === 'records') {
      const addresses = answer.records.map(({ text }) => text);
      remember(key, answer.records, addresses);
      return { kind: 'addresses', addresses, queried: true };
    }
    const { code } = answer;
    // REFUSED is what a name server says to those it does not serve: our configuration, not the name.
    const unheard = !SPOKEN_CODES.has(code) && silence.silentSince(askedAt);
    return { kind: 'failed', code, ownFault: code === 'EREFUSED' || unheard };
  };

  const startQuery = (key: string, name: string, family: 4 | 6, until: number): Promise<Lookup> => {
    const askedAt = clock.monotonic();
    silence.opened();
    const query = client.query(
      { name, type: family === 4 ? 'A' : 'AAAA' },
      until,
      MAX_RETURNED_MS + MARGIN_MS,
    );
    const lookup = query.result.then((answer) => {
      inFlight.delete(key);
      silence.ended();
      return read(key, askedAt, answer);
    });
    inFlight.set(key, { query, lookup });
    return lookup;
  };

  return {
    /**
     * Looks up the addresses of a name. Returns at once what it knows; otherwise it repeats a query until `until`
     * (monotonic milliseconds), and a response counts however late it comes. `fresh` bypasses the cache. Never throws.
     */
    lookup(name: string, family: 4 | 6, fresh: boolean, until: number): Lookup | Promise<Lookup> {
      const known = inHosts(stripDot(name));
      if (known !== null) {
        const addresses = known.filter((each) => each.family === family).map((each) => each.text);
        if (addresses.length === 0) return { kind: 'none', code: 'ENODATA' };
        return { kind: 'addresses', addresses, queried: false };
      }
      const key = `${family}${name}`;
      const hit = fresh ? undefined : cache.get(key);
      if (hit !== undefined && hit.expiresAt > clock.monotonic()) {
        return { kind: 'addresses', addresses: hit.addresses, queried: false };
      }
      const shared = inFlight.get(key);
      if (shared === undefined) return startQuery(key, name, family, until);
      shared.query.extend(until);
      return shared.lookup;
    },
    /** Whether no name server has responded since `since` (monotonic milliseconds). */
    silentSince: silence.silentSince,
    /** Cancels the queries in flight. */
    close(): void {
      silence.close();
      client.close();
    },
  };
}

/** While no name server responds, the root is queried this often. */
const SILENCE_MS = 1500;
/** Deadline of a query for the root. */
const ROOT_TIMEOUT_MS = 10_000;

/**
 * Tells a dead zone from a dead name server. While queries are in flight and no name server has responded for a while,
 * the root is queried, which every name server can answer at once: if no response comes either, the fault is ours.
 */
function watchSilence(client: NameClient, clock: Clock) {
  let open = 0;
  let isRootQueried = false;
  let cancel: Cancel | null = null;
  const watch = () => {
    cancel = null;
    if (open === 0) return;
    const now = clock.monotonic();
    if (now - client.lastReplyAt() >= SILENCE_MS && !isRootQueried) {
      isRootQueried = true;
      void client.query({ name: '.', type: 'NS' }, now + ROOT_TIMEOUT_MS).result.then(() => {
        isRootQueried = false;
      });
    }
    cancel = clock.after(SILENCE_MS, watch);
  };
  return {
    opened() {
      open++;
      cancel ??= clock.after(SILENCE_MS, watch);
    },
    ended() {
      open--;
    },
    silentSince: (since: number) => client.lastReplyAt() < since,
    close() {
      cancel?.();
      cancel = null;
    },
  };
}

function stripDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
