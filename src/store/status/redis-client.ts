/** Creates the client of a Redis installation: a single server, one behind Sentinels, or a cluster. */
import { createHash } from 'node:crypto';
import { Cluster, Redis, type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import type { RedisAddress } from '../../domain/store-address.ts';
import { messageOf } from '../../error.ts';

/** A client; both kinds have the same commands. */
export type RedisClient = Redis | Cluster;

/** A script and its SHA-1, by which the server knows it. */
export interface RedisScript {
  readonly text: string;
  readonly sha1: string;
}

const CONNECT_TIMEOUT_MS = 2_000;
const FIRST_RETRY_MS = 50;
const MAX_RETRY_DELAY_MS = 1_000;
const SLOTS_REFRESH_MS = 5_000;
/** Minimum time between two connects because of errors, milliseconds. */
const MIN_RECONNECT_MS = 1_000;
const PROBE_LIFE_MS = 60_000;
/**
 * Errors of a server that is no master, or no longer the one that the address leads to: it is a replica (also one without its
 * master), starts, has lost its replicas, or does not know this connection.
 */
const OF_ANOTHER_SERVER = /\b(?:READONLY|MASTERDOWN|LOADING|NOREPLICAS|UNBLOCKED|NOAUTH)\b/;
/** Maximum number of redirections of a command by a cluster that moves its slots. */
const MAX_REDIRECTIONS = 5;

/**
 * Creates a client that connects at once and reconnects indefinitely. Without a connection a command fails at once instead
 * of being queued. Commands of one turn of the event loop are sent together, unless they may block. An error of a server that
 * is no longer the master replaces the connection: behind a proxy, a new one leads to the master.
 */
export function createRedisClient(
  address: RedisAddress,
  {
    name,
    timeoutMs,
    blocking,
    writesWhileSubscribed = false,
  }: {
    readonly name: string;
    readonly timeoutMs: number;
    readonly blocking: boolean;
    /** True: the connection subscribes, and sends other commands beside. Default false. */
    readonly writesWhileSubscribed?: boolean;
  },
): RedisClient {
  const retryStrategy = (times: number) => Math.min(FIRST_RETRY_MS * times, MAX_RETRY_DELAY_MS);
  const common = {
    connectionName: name,
    // Servers and proxies before Redis 6 support no other. With it, a connection that subscribes sends nothing else.
    protocol: writesWhileSubscribed && address.kind !== 'cluster' ? (3 as const) : (2 as const),
    reconnectOnError: createReconnectRule(),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // The client's own way rejects unhandled where the connection is lost again meanwhile.
    autoResubscribe: false,
    enableAutoPipelining: !blocking,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: timeoutMs,
    ...(address.username === null ? {} : { username: address.username }),
    ...(address.password === null ? {} : { password: address.password }),
  };
  const nodes = address.nodes.map(({ host, port }) => ({ host, port }));
  if (address.kind === 'cluster') {
    return new Cluster(nodes, {
      clusterRetryStrategy: retryStrategy,
      enableOfflineQueue: false,
      enableAutoPipelining: !blocking,
      maxRedirections: MAX_REDIRECTIONS,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      redisOptions: { ...common, ...(address.tls ? { tls: {} } : {}) },
    });
  }
  if (address.kind === 'sentinel') {
    return new Redis({
      ...common,
      Connector: QuietSentinelConnector,
      sentinels: nodes,
      name: address.masterName ?? '',
      db: address.database,
      retryStrategy,
      sentinelRetryStrategy: retryStrategy,
      sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
      failoverDetector: true,
      ...(address.sentinelUser === null ? {} : { sentinelUsername: address.sentinelUser }),
      ...(address.sentinelPassword === null ? {} : { sentinelPassword: address.sentinelPassword }),
      ...(address.tls ? { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} } : {}),
    });
  }
  return new Redis({
    ...common,
    ...nodes[0],
    db: address.database,
    retryStrategy,
    ...(address.tls ? { tls: {} } : {}),
  });
}

/** The rule by which an error replaces the connection, at most once a second. */
function createReconnectRule(): (error: Error) => boolean {
  let lastMs = Number.NEGATIVE_INFINITY;
  return ({ message }) => {
    const nowMs = performance.now();
    if (!OF_ANOTHER_SERVER.test(message) || nowMs - lastMs < MIN_RECONNECT_MS) return false;
    lastMs = nowMs;
    return true;
  };
}

/**
 * Rejects if the server takes no writes: a replica answers reads for as long as the connection lives. A server whose memory is
 * full passes, as it does no harm to what only reads. Replicas of a cluster redirect all commands.
 */
export async function requireMaster(client: RedisClient, { kind, prefix }: RedisAddress): Promise<void> {
  if (kind === 'cluster') await client.ping();
  else await client.pexpire(`${prefix}:limit-probe`, PROBE_LIFE_MS);
}

/**
 * The client connects to Sentinels itself. Some of these connections have no listener of errors, so that it would write
 * them to the console again and again while a Sentinel is down.
 */
class QuietSentinelConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
    const connect: unknown = Reflect.get(this, 'connectToSentinel');
    if (typeof connect !== 'function') return;
    Reflect.set(this, 'connectToSentinel', (...args: unknown[]) => {
      const sentinel: unknown = Reflect.apply(connect, this, args);
      if (sentinel instanceof Redis) sentinel.on('error', () => {});
      return sentinel;
    });
  }
}

/** Returns true if Redis refused a command because all of its `maxmemory` is in use. It still takes those that need no memory. */
export function isFullRedis(error: unknown): boolean {
  return /\bOOM command not allowed/.test(messageOf(error));
}

export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Runs a script; sends its text only if the server does not know it. All keys must be in one slot. */
export async function runScript(
  client: RedisClient,
  { text, sha1 }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number | Buffer)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
    return await client.eval(text, keys.length, ...keys, ...args);
  }
}

/** As {@link runScript}; strings of the answer are bytes. For a client that sends commands one by one (`blocking`). */
export async function runScriptForBytes(
  client: RedisClient,
  { text, sha1 }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.callBuffer('EVALSHA', sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!messageOf(error).startsWith('NOSCRIPT')) throw error;
    return await client.callBuffer('EVAL', text, keys.length, ...keys, ...args);
  }
}

/** Pairs of a flat list of names and values, as Redis returns them. */
export function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : []));
}
