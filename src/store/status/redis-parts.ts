/** Everything that the monitor and the serving processes keep in Redis (`storage.redis.url`). */

import { hostname } from 'node:os';
import { getOrInsert } from '../../async/bounded-map.ts';
import type { Clock } from '../../clock.ts';
import { describeRedis, type RedisAddress, requireRedisAddress } from '../../domain/store-address.ts';
import type { Log } from '../../log.ts';
import type { MemoryStatusStore } from './memory-status-store.ts';
import { type RedisClient, type RedisScript, redisScript, runScript } from './redis-client.ts';
import {
  openRedisConnection,
  type RedisConnection,
  type RedisConnectionState,
  type RedisContext,
  type RedisPart,
} from './redis-connection.ts';
import {
  DEADLINES_KEY,
  MONITOR_KEY,
  openMonitorState,
  openRedisMirror,
  REVOKED_KEY,
} from './redis-mirror.ts';
import { RedisStatusReader } from './redis-status-reader.ts';
import { RedisStatusStore } from './redis-status-store.ts';
import { openRedisTransitionStream, type TransitionStreamOptions } from './redis-transition-stream.ts';

/** Thrown at a start if another installation that is alive uses the prefix. */
class RedisPrefixTaken extends Error {
  readonly code = 'redis_prefix_taken';
}

export interface PrefixClaimOptions {
  readonly address: RedisAddress;
  /** The identity of this installation, which all its processes share. */
  readonly installation: string;
  readonly clock: Clock;
  readonly log: Log;
}

export type PrefixClaim = ReturnType<typeof createPrefixClaim>;

/** Each process renews the claim every second; without a renewal it ends after this time, milliseconds. */
const CLAIM_TTL_MS = 4_000;
/** The time for which a start waits for Redis, milliseconds. */
const START_TIMEOUT_MS = 2_000;
/** Interval at which a start checks whether the holder renews its claim, milliseconds. */
const LOOK_MS = 200;

/**
 * Renews the claim, or makes it if there is none. Keys: the claim. Arguments: installation, description of the process, life in
 * milliseconds. Returns nothing, or the description and the remaining life of the claim of another installation.
 */
const CLAIM = redisScript(`
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) ~= ARGV[1] then
  return {string.match(held, ' (.*)') or 'unknown', redis.call('PTTL', KEYS[1])}
end
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2], 'PX', ARGV[3])
return {}`);

/** Ends the claim, unless it is that of another installation. Keys and arguments: as above. */
const RELEASE = redisScript(`
local held = redis.call('GET', KEYS[1])
if held and string.sub(held, 1, #ARGV[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return {}`);

interface ForeignClaim {
  readonly process: string;
  readonly lifeMs: number;
}

/** Creates the claim. The owner of the connection calls `renew` every second. */
export function createPrefixClaim({ address, installation, clock, log }: PrefixClaimOptions) {
  // Beside the keys of nodes, so that users of Redis with the least rights may write it.
  const key = `${address.prefix}:{nodes}:installation`;
  const args = [installation, `process ${process.pid} on ${hostname()}`, CLAIM_TTL_MS];
  /** Null: the prefix is ours, as far as is known. */
  let foreign: ForeignClaim | null = null;
  let started = false;

  async function renew(client: RedisClient): Promise<void> {
    const [holder, lifeMs] = (await runScript(client, CLAIM, [key], args)) as [string?, number?];
    const isNew = foreign === null;
    foreign = holder === undefined ? null : { process: holder, lifeMs: lifeMs ?? 0 };
    if (foreign !== null && isNew && started)
      log.error({ prefix: address.prefix, by: holder }, 'another installation uses this Redis prefix');
  }

  return {
    renew,
    /**
     * Resolves when the prefix is claimed, or when Redis does not respond. Rejects with {@link RedisPrefixTaken} if another
     * installation renews its claim.
     */
    async atStart(connection: RedisConnection): Promise<void> {
      const patienceEndsMs = clock.monotonic() + START_TIMEOUT_MS;
      let before: ForeignClaim | null = null;
      while (connection.ready || clock.monotonic() < patienceEndsMs) {
        if (connection.ready) {
          await connection.run(renew).catch(() => {});
          if (foreign === null) break;
          const { process, lifeMs }: ForeignClaim = foreign;
          if (before !== null && (before.process !== process || before.lifeMs < lifeMs))
            throw new RedisPrefixTaken(
              `Another installation, ${process}, uses the prefix ${address.prefix} in Redis at ${describeRedis(address)}. Add ?prefix= with a name of its own to storage.redis.url of one of the two.`,
            );
          before = foreign;
        }
        await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
      }
      started = true;
    },
    /** Ends the claim when this process stops; other processes of the installation make it again within a second. */
    async release(connection: RedisConnection): Promise<void> {
      if (connection.ready && foreign === null)
        await connection.run((client) => runScript(client, RELEASE, [key], args)).catch(() => {});
    },
    /** One line; null: the prefix is ours, or Redis does not respond. */
    problem: (): string | null =>
      foreign === null ? null : `another installation, ${foreign.process}, uses the same prefix`,
  };
}

/** The sources from which the monitor writes to Redis. */
interface MonitorSources extends Pick<TransitionStreamOptions, 'registry' | 'watchTransitions'> {
  /** The monitor's state, by field. */
  readonly fields: () => ReadonlyMap<string, string>;
  /** Deadlines of the next heartbeats, epoch milliseconds, by service; null: not known yet. */
  readonly deadlines: () => ReadonlyMap<number, number> | null;
  /** API keys that were revoked lately, with the time in epoch milliseconds, by ID. */
  readonly revokedKeys: () => ReadonlyMap<number, number>;
}

export interface RedisPartsOptions extends Omit<RedisContext, 'address'> {
  readonly url: string;
  /** The identity of this installation; null: this process does not know it, and claims no prefix. */
  readonly installation: string | null;
}

/** Opens the limits, which every process has; Redis may be unavailable. Throws if `url` is no valid address. */
export function openRedisParts({ url, installation, clock, log }: RedisPartsOptions) {
  const address = requireRedisAddress(url);
  const common = { address, clock, log };
  const claim = installation === null ? null : createPrefixClaim({ ...common, installation });
  const limits = openRedisLimitServer({ ...common, ...(claim === null ? {} : { claim }) });
  const open = new Set<RedisPart>([limits]);
  const states = (): RedisConnectionState[] => [...open].map((part) => part.state());
  const sum = (figure: 'commandsFailed' | 'reconnects') =>
    states().reduce((total, one) => total + one[figure], 0);

  return {
    limits,
    /**
     * Opens the monitor's parts for the holder of the writer lease, who writes only while `isFresh`. `copy`: the statuses that
     * this process has read while it served; null: none.
     */
    openMonitor(isFresh: () => boolean, copy: MemoryStatusStore | null = null) {
      const continued = copy === null ? {} : { copy };
      const status = new RedisStatusStore({ ...common, ...continued, mayWrite: isFresh });
      open.add(status);
      const writers: RedisPart[] = [];
      const mayWrite = () => !status.superseded;
      return {
        status,
        /** Starts to write transitions, the monitor's state and deadlines. Called once. */
        write({ fields, deadlines, revokedKeys, ...sources }: MonitorSources): void {
          const scores = (values: ReadonlyMap<number, number> | null) =>
            values === null ? null : new Map([...values].map(([id, at]) => [String(id), String(at)]));
          const keys = [
            { key: MONITOR_KEY, type: 'hash', read: fields },
            { key: DEADLINES_KEY, type: 'sorted-set', read: () => scores(deadlines()) },
            { key: REVOKED_KEY, type: 'sorted-set', read: () => scores(revokedKeys()) },
          ] as const;
          writers.push(
            openRedisTransitionStream({ ...common, ...sources, mayWrite }),
            openRedisMirror({ ...common, keys, mayWrite: () => mayWrite() && isFresh() }),
          );
          for (const writer of writers) open.add(writer);
        },
        /** Closes the connections and the status store. */
        async close(): Promise<void> {
          for (const writer of writers) {
            open.delete(writer);
            writer.close();
          }
          open.delete(status);
          await status.close();
        },
      };
    },
    /** Opens the parts of a serving process; `onState` gets the monitor's state every second. */
    openServing(onState: (fields: Readonly<Record<string, string>>) => void) {
      const status = new RedisStatusReader(common);
      const state = openMonitorState({ ...common, onState });
      open.add(status);
      open.add(state);
      return {
        status,
        /** Stops following the statuses, and returns the copy of them. */
        handOver() {
          open.delete(status);
          return status.handOver();
        },
        async close(): Promise<void> {
          open.delete(status);
          open.delete(state);
          state.close();
          await status.close();
        },
      };
    },
    /** Returns true if the monitor reports that the API key was revoked; false if Redis is unavailable. */
    isKeyRevoked: (keyId: number): Promise<boolean> =>
      limits.contains(REVOKED_KEY, String(keyId)).catch(() => false),
    /** Why Redis does not work, one line without secrets; null: it works. */
    problem: (): string | null =>
      states().find(({ problem }) => problem !== null)?.problem ?? claim?.problem() ?? null,
    /** Sums over the open connections. */
    stats: () => ({ commandsFailed: sum('commandsFailed'), reconnects: sum('reconnects') }),
    /** Rejects with `redis_prefix_taken` if another installation that is alive uses the prefix. */
    claimPrefix: limits.claimPrefix,
    /** Closes the limits; the other parts are closed separately. */
    close: limits.close,
  };
}

interface Call extends PromiseWithResolvers<unknown> {
  readonly key: string;
  readonly args: readonly (string | number)[];
}

/** Maximum time that a limit may delay a response, milliseconds. */
const TIMEOUT_MS = 200;
const PROBE_LIFE_MS = 60_000;
/** Minimum time between two batches of calls, milliseconds: a write to a socket costs more than the rest of a call. */
const BATCH_MS = 1;

/** Shows that scripts may write: a server that is read-only, or forbids scripts, cannot count. */
const PROBE = redisScript("return redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])");

export interface RedisLimitServerOptions extends RedisContext {
  /** Timeout of a command, milliseconds. Default: 200. */
  readonly timeoutMs?: number;
  /** The claim to the prefix, which this connection renews; absent: it is not claimed. */
  readonly claim?: PrefixClaim;
}

/** Opens the counters; they become ready later, or never. */
export function openRedisLimitServer(options: RedisLimitServerOptions) {
  const { address, clock, timeoutMs = TIMEOUT_MS, claim } = options;
  const { prefix } = address;
  const batches = new Map<string, { readonly script: RedisScript; waiting: Call[] }>();
  let sentMs = Number.NEGATIVE_INFINITY;

  const connection = openRedisConnection({
    ...options,
    purpose: 'limits',
    timeoutMs,
    prepare: (client) => runScript(client, PROBE, [`${prefix}:limit-probe`], [PROBE_LIFE_MS]),
    probe: (client) => Promise.all([client.get(`${prefix}:limit-probe`), claim?.renew(client)]),
  });
  function flush(): void {
    sentMs = clock.monotonic();
    for (const batch of batches.values()) {
      const calls = batch.waiting;
      batch.waiting = [];
      // The keys are on many nodes of a cluster, for which the client itself sends the commands of one node together.
      if (address.kind === 'cluster') for (const call of calls) send(batch.script, [call]);
      else if (calls.length > 0) send(batch.script, calls);
    }
  }

  function send(script: RedisScript, calls: readonly Call[]): void {
    const keys = calls.map(({ key }) => key);
    const args = calls.flatMap((call) => call.args);
    connection
      .run((client) => runScript(client, script, keys, args))
      .then(
        (answers) => {
          for (const [index, call] of calls.entries()) call.resolve((answers as unknown[])[index]);
        },
        (error: Error) => {
          for (const call of calls) call.reject(error);
        },
      );
  }

  return {
    get ready(): boolean {
      return connection.ready;
    },
    /**
     * Runs a script for one key, to which the prefix is added; rejects if Redis does not respond in time. Simultaneous calls are run
     * together: the script gets several keys and the arguments of each in turn, and returns an array with a result for each.
     */
    evaluate(text: string, key: string, args: readonly (string | number)[]): Promise<unknown> {
      const batch = getOrInsert(batches, text, () => ({ script: redisScript(text), waiting: [] }));
      const call = { ...Promise.withResolvers<unknown>(), key: `${prefix}:limit:${key}`, args };
      if (batch.waiting.length === 0) {
        // A single request is not delayed.
        if (clock.monotonic() - sentMs >= BATCH_MS) setImmediate(flush);
        else clock.after(BATCH_MS, flush);
      }
      batch.waiting.push(call);
      return call.promise;
    },
    /** Returns true if a sorted set contains the member; the prefix is added to the key. Rejects as `evaluate`. */
    async contains(key: string, member: string): Promise<boolean> {
      return (await connection.run((client) => client.zscore(`${prefix}:${key}`, member))) !== null;
    },
    /** Claims the prefix. Rejects if another installation uses it. */
    claimPrefix: async (): Promise<void> => claim?.atStart(connection),
    state: connection.state,
    async close(): Promise<void> {
      await claim?.release(connection);
      connection.close();
    },
  };
}
