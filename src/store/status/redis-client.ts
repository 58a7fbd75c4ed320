/** Makes the client of a Redis installation: a single server, one that Sentinels know, or a cluster. */
import { createHash } from 'node:crypto';
import { Cluster, Redis, type SentinelConnectionOptions, SentinelConnector } from 'ioredis';
import type { RedisAddress } from '../../domain/redis-address.ts';

/** A client; both kinds know the same commands. */
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
/** How often a command may be sent on by a cluster that moves its slots. */
const MAX_REDIRECTIONS = 5;

/**
 * Creates a client that connects at once and reconnects indefinitely. It queues nothing while there is no connection: a command then fails
 * at once, for its sender knows better what to do meanwhile. Commands of one turn of the event loop are sent together,
 * unless they may block.
 */
export function createRedisClient(
  address: RedisAddress,
  {
    name,
    timeoutMs,
    blocking,
  }: { readonly name: string; readonly timeoutMs: number; readonly blocking: boolean },
): RedisClient {
  const retryStrategy = (times: number) => Math.min(FIRST_RETRY_MS * times, MAX_RETRY_DELAY_MS);
  const common = {
    connectionName: name,
    // Servers and proxies before Redis 6 know no other.
    protocol: 2 as const,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
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

/**
 * The client asks Sentinels through connections of its own, some of which have nobody who hears their errors: it then
 * writes them to the console, again and again while a Sentinel is down. That one is down is no fault of ours.
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

/** Makes a script of Lua text. */
export function redisScript(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') };
}

/** Runs a script; sends its text only where the server does not know it. All keys must lie in one slot. */
export async function runScript(
  client: RedisClient,
  { text, sha1 }: RedisScript,
  keys: readonly string[],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await client.evalsha(sha1, keys.length, ...keys, ...args);
  } catch (error) {
    if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
    return await client.eval(text, keys.length, ...keys, ...args);
  }
}
