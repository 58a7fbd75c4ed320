/**
 * Resolves names: from the hosts file, then from a cache, then by name servers. `dns.lookup` is not used, because the
 * whole process shares its four threads, so that one zone that does not respond would delay all other names.
 */
import { readFileSync, statSync } from 'node:fs';
import { BoundedMap, getOrInsert } from '../async/bounded-map.ts';
import { type Cancel, type Clock, systemClock } from '../clock.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';
import { type Address, readAddress } from '../domain/special-address.ts';
import { createNameClient, type NameClient, type NameResult, type PendingQuery } from './name-client.ts';
import type { NameQuery, NameRecord } from './name-message.ts';
import { createServerList } from './name-socket.ts';

/** The result of a lookup of a name in one family. */
export type Lookup =
  | {
      readonly kind: 'addresses';
      readonly addresses: readonly string[];
      /** False: the addresses are from the hosts file or the cache, and no query was sent. */
      readonly queried: boolean;
    }
  /** The name does not exist, or has no records of this family. `code` is that of node:dns. */
  | { readonly kind: 'none'; readonly code: string }
  /** No usable response. `ownFault`: it says something of our name servers, and nothing of the name. */
  | { readonly kind: 'failed'; readonly code: string; readonly ownFault: boolean };

export interface ResolverSettings {
  /** Name servers, each `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** Default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** Replaces the system's name servers in tests; called each time the list is read. */
  readonly systemServers?: () => readonly string[];
  readonly clock?: Clock;
}

/** The resolver of a thread, for connections. */
export type Resolver = Omit<RecordResolver, 'ask'>;

/** The resolver of a thread, for connections and for records of any type. */
export type RecordResolver = ReturnType<typeof createResolver>;

/** Maximum time to live of a cached response, milliseconds. */
const MAX_TTL_MS = 300_000;
const MAX_CACHED = 20_000;

/** The time by which a query without a response ends after the extended deadlines of its attempts, milliseconds. */
const MARGIN_MS = 50;

interface Cached {
  readonly addresses: readonly string[];
  readonly expiresAt: number;
}

/** A query that several attempts wait for. */
interface SharedQuery {
  readonly query: PendingQuery;
  readonly lookup: Promise<Lookup>;
}

/** Creates a resolver. Throws if a name server of the settings is not `ip` or `ip:port`. */
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
    return { kind: 'failed', code: answer.code, ownFault: isOwnFault(answer.code, askedAt) };
  };

  // SERVFAIL concerns the zone. A name server refuses clients that it does not serve, so REFUSED and all other errors concern our
  // configuration, and so does silence if it concerns every name.
  const isOwnFault = (code: string, askedAt: number): boolean =>
    code === 'ETIMEOUT' ? silence.silentSince(askedAt) : code !== 'ESERVFAIL';

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
     * Looks up the addresses of a name. A known result is returned synchronously; otherwise the query is repeated until
     * `until` (monotonic milliseconds), and a late response still counts. `fresh` bypasses the cache. Never throws.
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
    /**
     * Queries the name servers for records of any type until `until` (monotonic milliseconds), without the hosts file and
     * without the cache. `ownFault` as in {@link Lookup}.
     */
    ask(query: NameQuery, until: number) {
      const askedAt = clock.monotonic();
      silence.opened();
      const pending = client.query(query, until, MAX_RETURNED_MS + MARGIN_MS);
      const answer = pending.result.then((result) => {
        silence.ended();
        return { result, ownFault: result.kind === 'failed' && isOwnFault(result.code, askedAt) };
      });
      return { answer, cancel: () => pending.finish({ kind: 'failed', code: 'ECANCELLED' }) };
    },
    /** Returns true if no name server has responded since `since` (monotonic milliseconds). */
    silentSince: silence.silentSince,
    /** Cancels the queries in flight. */
    close(): void {
      silence.close();
      client.close();
    },
  };
}

/** The interval at which the root is queried while no name server responds, milliseconds. */
const SILENCE_MS = 1500;
const ROOT_TIMEOUT_MS = 10_000;

/**
 * Distinguishes a zone that does not respond from a name server that does not respond. While queries are in flight and
 * no name server has responded for a while, the root is queried, which every name server can answer immediately. If
 * there is no response to that either, the fault is ours.
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

// The hosts file of the system, hosts(5), which takes precedence over name servers.

/** Returns the addresses of a name in the order of the file; null: the file does not list the name. */
type HostsLookup = (name: string) => readonly Address[] | null;

/** Minimum time between two checks of the file for changes, milliseconds. */
const MIN_CHECK_INTERVAL_MS = 5000;

const LOOPBACK: readonly Address[] = [
  { family: 4, text: '127.0.0.1' },
  { family: 6, text: '::1' },
];

/**
 * Reads the file and follows its changes. `localhost` and the names below it are loopback addresses even if the file
 * does not list them, and are never sent to a name server (RFC 6761, 6.3).
 */
export function createHostsLookup(file: string, clock: Clock): HostsLookup {
  let table = new Map<string, Address[]>();
  let version = '';
  let lookedAt = Number.NEGATIVE_INFINITY;
  return (name) => {
    const now = clock.monotonic();
    if (now - lookedAt >= MIN_CHECK_INTERVAL_MS) {
      lookedAt = now;
      const found = statSync(file, { throwIfNoEntry: false });
      const seen = found === undefined ? '' : `${found.mtimeMs} ${found.size}`;
      if (seen !== version) {
        version = seen;
        table = parseHosts(readOrEmpty(file));
      }
    }
    const known = table.get(name);
    if (known !== undefined) return known;
    return name === 'localhost' || name.endsWith('.localhost') ? LOOPBACK : null;
  };
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // An absent or unreadable file counts as empty, so that name servers are queried.
    return '';
  }
}

/** Parses a hosts file; skips invalid lines. */
export function parseHosts(text: string): Map<string, Address[]> {
  const table = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [literal = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const address = readAddress(literal);
    if (address === null) continue;
    for (const name of names) {
      getOrInsert(table, name.toLowerCase(), () => []).push(address);
    }
  }
  return table;
}
