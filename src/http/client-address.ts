/**
 * The client of a request for rate limits: an IPv4 address, or the /64 of an IPv6 address. `X-Forwarded-For` is used
 * only if a trusted proxy sent it. The client is then its right-most address that is not a trusted proxy (decisions,
 * Keys and limits). And the number of connections that the server and each client may hold.
 */

import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { atMostEvery } from '../async/at-most-every.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';

/**
 * Creates the function that determines the client from the socket's address and the `X-Forwarded-For` header.
 * `trustedProxies` are addresses or CIDR blocks. Throws for anything else.
 */
export function createClientReader(trustedProxies: readonly string[]) {
  const blocks = parseBlocks(trustedProxies);
  const isTrusted = (address: Address) => isInBlocks(address, blocks);

  return (remoteAddress: string | undefined, forwardedFor: string | undefined): string => {
    if (blocks.length === 0 && remoteAddress !== undefined && !remoteAddress.includes(':'))
      return remoteAddress;
    let client = parse(remoteAddress ?? '');
    if (client === null) return 'unknown';
    const hops = forwardedFor?.split(',') ?? [];
    while (hops.length > 0 && isTrusted(client)) {
      const hop = parse((hops.pop() ?? '').trim());
      // A trusted proxy may forward any text; the last valid address counts.
      if (hop === null) break;
      client = hop;
    }
    return countedAs(client);
  };
}

/**
 * Creates the function that determines the client of a connection from the socket's address; null: it is a trusted proxy, which
 * connects for many clients. `trustedProxies` as for {@link createClientReader}.
 */
export function createPeerReader(trustedProxies: readonly string[]) {
  const blocks = parseBlocks(trustedProxies);
  return (remoteAddress: string | undefined): string | null => {
    if (blocks.length === 0 && remoteAddress !== undefined && !remoteAddress.includes(':'))
      return remoteAddress;
    const peer = parse(remoteAddress ?? '');
    if (peer === null) return 'unknown';
    return isInBlocks(peer, blocks) ? null : countedAs(peer);
  };
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Block = readonly [base: Address, bits: number];

function parseBlocks(texts: readonly string[]): readonly Block[] {
  return texts.map((text) =>
    ipaddr.parseCIDR(text.includes('/') ? text : `${text}/${isIP(text) === 6 ? 128 : 32}`),
  );
}

function isInBlocks(address: Address, blocks: readonly Block[]): boolean {
  return blocks.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
}

/** Parses `ip`, `ip:port` and `[ip]:port`; an IPv4-mapped IPv6 address becomes the IPv4 address. */
function parse(text: string): Address | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const withoutZone = bare.split('%')[0] ?? '';
  return isIP(withoutZone) === 0 ? null : ipaddr.process(withoutZone);
}

function countedAs(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const [a = 0, b = 0, c = 0, d = 0] = (address as ipaddr.IPv6).parts;
  return `${[a, b, c, d].map((part) => part.toString(16)).join(':')}::/64`;
}

/** Creates counters by client, all 0. */
export function createClientCounts() {
  const counts = new Map<string, number>();
  const of = (client: string) => counts.get(client) ?? 0;
  return {
    of,
    add: (client: string): void => void counts.set(client, of(client) + 1),
    /** Decrements the count of a client, after {@link add}. */
    remove(client: string): void {
      const left = of(client) - 1;
      if (left > 0) counts.set(client, left);
      else counts.delete(client);
    },
  };
}

/** The part of the descriptors that clients may take. */
const CLIENTS_PART = 0.75;
/** Maximum share of those connections that one client may take. */
const MAX_CLIENT_SHARE = 0.25;
/** Minimum time between two log entries about connections that are refused, milliseconds. */
const MIN_LOG_INTERVAL_MS = 60_000;

/** Why a connection is refused: its client has its share, all connections are taken, or the system gives none. */
const REFUSED_CONNECTIONS = ['client', 'full', 'system'] as const;

/** One of {@link REFUSED_CONNECTIONS}. */
type RefusedConnection = (typeof REFUSED_CONNECTIONS)[number];

interface ConnectionLimits {
  /** Maximum number of open connections; infinite: no limit, for a client neither. */
  readonly maxConnections: number;
  /** Addresses or CIDR blocks whose connections are those of many clients, and not counted by address. */
  readonly trustedProxies: readonly string[];
  /** Called for each connection that is refused. */
  readonly onRefused: (reason: RefusedConnection) => void;
  readonly log: Log;
}

/**
 * Limits the connections of a server. A client, which is an IPv4 address or the /64 of an IPv6 address, has at most a quarter of them; a
 * further one is reset before anything is read from it or allocated for it. Refusals are logged at most once a minute for each reason.
 */
export function limitConnections(
  server: Server,
  { maxConnections, trustedProxies, onRefused, log }: ConnectionLimits,
): void {
  const tellClient = atMostEvery(MIN_LOG_INTERVAL_MS, systemClock.monotonic);
  const tellAny = atMostEvery(MIN_LOG_INTERVAL_MS, systemClock.monotonic);
  server.on('error', (error) => {
    onRefused('system');
    if (tellAny()) log.warn({ error }, 'a connection could not be accepted');
  });
  if (!Number.isFinite(maxConnections)) return;
  server.maxConnections = maxConnections;
  server.on('drop', () => {
    onRefused('full');
    if (tellAny())
      log.warn(
        { open: maxConnections, problem: 'too many connections are open' },
        'a connection could not be accepted',
      );
  });

  const maxOfClient = Math.max(1, Math.floor(maxConnections * MAX_CLIENT_SHARE));
  const open = createClientCounts();
  const readPeer = createPeerReader(trustedProxies);
  // In place of the listeners of Node.js, which would allocate a parser for the connection first.
  const accept = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const client = readPeer(socket.remoteAddress);
    if (client !== null) {
      if (open.of(client) >= maxOfClient) {
        onRefused('client');
        if (tellClient()) log.warn({ client, open: maxOfClient }, 'a client has its share of connections');
        socket.resetAndDestroy();
        return;
      }
      open.add(client);
      socket.once('close', () => open.remove(client));
    }
    for (const listener of accept) Reflect.apply(listener, server, [socket]);
  });
}

/**
 * The number of connections for a process with the limits of `/proc/self/limits` (proc(5)): three quarters of its open files. Infinite: there is
 * no limit, or none that can be read.
 */
export function connectionLimitOf(limits: string): number {
  const [, soft = ''] = /^Max open files +(\d+|unlimited) /m.exec(limits) ?? [];
  return soft === '' || soft === 'unlimited'
    ? Number.POSITIVE_INFINITY
    : Math.floor(Number(soft) * CLIENTS_PART);
}

export function readConnectionLimit(): number {
  try {
    return connectionLimitOf(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // There is no such file on other systems than Linux.
    return Number.POSITIVE_INFINITY;
  }
}
