/**
 * The number of connections that the server and each client may hold, so that descriptors are left for files, checks and
 * messages, and no client takes those of all others.
 */
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { atMostEvery } from '../async/at-most-every.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { createClientCounts, createPeerReader } from './client-address.ts';

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

export interface ConnectionLimits {
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
