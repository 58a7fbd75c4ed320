/**
 * Resolves names: the hosts file, then name servers through one c-ares channel of the thread with a cache.
 * `dns.lookup` is never used: its four threads are shared by the whole process, and one dead zone would falsify
 * every timing.
 */
import { Resolver as DnsResolver, type RecordWithTtl } from 'node:dns';
import { type Clock, systemClock } from '../clock.ts';
import { createHostsLookup } from './hosts-file.ts';

/** What one question (a name, a family) came to. */
export type Lookup =
  | {
      readonly kind: 'addresses';
      readonly addresses: readonly string[];
      /** False where the hosts file or the cache knew it, so that no query was sent. */
      readonly queried: boolean;
    }
  /** The name has none: it does not exist, or has no records of this family. `code` is that of node:dns. */
  | { readonly kind: 'none'; readonly code: string }
  /** No usable answer. `ownFault`: no name server spoke to us, so it says nothing about the name. */
  | { readonly kind: 'failed'; readonly code: string; readonly ownFault: boolean };

/** Settings of a resolver. */
export interface ResolverSettings {
  /** Name servers, each `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** Default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** Instead of the system's name servers, for tests; asked again whenever they are read anew. */
  readonly systemServers?: () => readonly string[];
  readonly clock?: Clock;
}

/** One of these a thread. */
export interface Resolver {
  /**
   * Asks for the addresses of a name. Answers at once where it knows. `fresh` passes the cache by.
   * Never throws; an answer can come long after it is of use.
   */
  lookup(name: string, family: 4 | 6, fresh: boolean): Lookup | Promise<Lookup>;
  /** Whether no name server has said anything since `since` (monotonic milliseconds). */
  silentSince(since: number): boolean;
  /** Cancels what is open. */
  close(): void;
}

/** Time to live of an answer, at most. */
const MAX_TTL_MS = 300_000;
const MAX_CACHED = 20_000;
/** c-ares waits this long for the first try and doubles it for each of `TRIES`. */
const FIRST_TRY_MS = 1500;
const TRIES = 3;

/** A machine that changes networks changes its name servers; after silence they are read anew, this often at most. */
const RENEW_MS = 5000;

/** Codes with which a name server answers that there is nothing. */
const NONE_CODES = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);
/** Codes that mean that no name server spoke. */
const SILENT_CODES = new Set(['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EDESTRUCTION']);

interface Cached {
  readonly addresses: readonly string[];
  readonly expiresAt: number;
}

/** Opens a resolver. Throws where a name server of the settings is no `ip:port`. */
export function createResolver(settings: ResolverSettings): Resolver {
  const { nameservers, hostsFile = '/etc/hosts', systemServers, clock = systemClock } = settings;
  const openChannel = () => {
    const channel = new DnsResolver({ timeout: FIRST_TRY_MS, tries: TRIES });
    const servers = nameservers.length > 0 ? nameservers : systemServers?.();
    if (servers !== undefined) channel.setServers(servers);
    return channel;
  };
  let dns = openChannel();
  let openedAt = clock.monotonic();
  const inHosts = createHostsLookup(hostsFile, clock);
  const cache = new Map<string, Cached>();
  const asking = new Map<string, Promise<Lookup>>();
  const voice = listenForServers(() => dns, clock);

  const renew = () => {
    const now = clock.monotonic();
    if (nameservers.length > 0 || now - openedAt < RENEW_MS) return;
    openedAt = now;
    // Questions that are open on the old channel end there.
    dns = openChannel();
  };

  const remember = (key: string, records: readonly RecordWithTtl[]) => {
    const ttlMs = Math.min(MAX_TTL_MS, ...records.map((record) => record.ttl * 1000));
    if (ttlMs <= 0) return;
    if (cache.size >= MAX_CACHED) dropOldest(cache);
    // Deleted first, so that the order of the map is the age of its entries.
    cache.delete(key);
    const addresses = records.map((record) => record.address);
    cache.set(key, { addresses, expiresAt: clock.monotonic() + ttlMs });
  };

  const ask = (key: string, name: string, family: 4 | 6): Promise<Lookup> => {
    const askedAt = clock.monotonic();
    voice.opened();
    const question = new Promise<Lookup>((resolve) => {
      const onAnswer = (error: NodeJS.ErrnoException | null, records: readonly RecordWithTtl[]) => {
        asking.delete(key);
        voice.ended(error?.code);
        if (error !== null) {
          const failure = readFailure(error.code ?? 'EUNKNOWN', voice.silentSince(askedAt));
          if (failure.kind === 'failed' && failure.ownFault) renew();
          resolve(failure);
        } else {
          remember(key, records);
          const addresses = records.map((record) => record.address);
          resolve(
            addresses.length === 0
              ? { kind: 'none', code: 'ENODATA' }
              : { kind: 'addresses', addresses, queried: true },
          );
        }
      };
      if (family === 4) dns.resolve4(name, { ttl: true }, onAnswer);
      else dns.resolve6(name, { ttl: true }, onAnswer);
    });
    asking.set(key, question);
    return question;
  };

  return {
    lookup(name, family, fresh) {
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
      return asking.get(key) ?? ask(key, name, family);
    },
    silentSince: voice.silentSince,
    close() {
      voice.close();
      dns.cancel();
    },
  };
}

function readFailure(code: string, silent: boolean): Lookup {
  if (NONE_CODES.has(code)) return { kind: 'none', code };
  // REFUSED is what a name server says to those it does not serve: our configuration, not the name.
  const ownFault = code === 'EREFUSED' || code === 'EAI_AGAIN' || (SILENT_CODES.has(code) && silent);
  return { kind: 'failed', code, ownFault };
}

/**
 * Tells a dead zone from a dead name server. While questions are open and nothing at all has been heard for a while,
 * the root is asked, which every name server can answer at once: if that is met with silence too, it is our side.
 */
function listenForServers(channel: () => DnsResolver, clock: Clock) {
  const PATIENCE_MS = 1500;
  let heardAt = Number.NEGATIVE_INFINITY;
  let open = 0;
  let cancel: (() => void) | null = null;
  const heard = (code: string | undefined) => {
    if (code === undefined || !SILENT_CODES.has(code)) heardAt = clock.monotonic();
  };
  const watch = () => {
    cancel = null;
    if (open === 0) return;
    if (clock.monotonic() - heardAt >= PATIENCE_MS) {
      channel().resolveNs('.', (error) => heard(error?.code));
    }
    cancel = clock.after(PATIENCE_MS, watch);
  };
  return {
    opened() {
      open++;
      cancel ??= clock.after(PATIENCE_MS, watch);
    },
    ended(code: string | undefined) {
      open--;
      heard(code);
    },
    silentSince: (since: number) => heardAt < since,
    close() {
      cancel?.();
      cancel = null;
    },
  };
}

function stripDot(name: string): string {
  return name.endsWith('.') ? name.slice(0, -1) : name;
}

function dropOldest(map: Map<string, unknown>): void {
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
