/** The counters of rate limits in Redis, which several processes share. */
import { getOrInsert } from '../../async/bounded-map.ts';
import type { PrefixClaim } from './prefix-claim.ts';
import { type RedisScript, redisScript, runScript } from './redis-client.ts';
import { openRedisConnection, type RedisContext } from './redis-connection.ts';

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

/** Options of the counters. */
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
     * Runs a script for one key, to which the prefix is added; rejects if Redis does not respond in time. Simultaneous
     * calls are run together: the script gets several keys and the arguments of each in turn, and returns an array with a
     * result for each.
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
