/** The place in Redis where several processes count requests together. */
import type { Clock } from '../../clock.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import { type RedisScript, redisScript, runScript } from './redis-client.ts';
import { openRedisConnection, type RedisConnectionState } from './redis-connection.ts';

/** The place. */
export interface RedisLimitServer {
  readonly ready: boolean;
  /** Runs a script over one key, to which the prefix is added; rejects where Redis does not answer within 200 ms. */
  evaluate(script: string, key: string, args: readonly (string | number)[]): Promise<unknown>;
  state(): RedisConnectionState;
  close(): void;
}

/** Nobody waits longer for an answer because of a limit. */
const TIMEOUT_MS = 200;
const PROBE_LIFE_MS = 60_000;

/** Opens the place; it is ready some time later, or never. */
export function openRedisLimitServer(options: {
  readonly address: RedisAddress;
  readonly clock: Clock;
  readonly log: Log;
}): RedisLimitServer {
  const { prefix } = options.address;
  const scripts = new Map<string, RedisScript>();
  const connection = openRedisConnection({
    ...options,
    purpose: 'limits',
    timeoutMs: TIMEOUT_MS,
    // A write: a server that only reads cannot count.
    prepare: (client) => client.set(`${prefix}:limit-probe`, '1', 'PX', PROBE_LIFE_MS),
    probe: (client) => client.get(`${prefix}:limit-probe`),
  });
  return {
    get ready() {
      return connection.ready;
    },
    evaluate(text, key, args) {
      const script = scripts.get(text) ?? redisScript(text);
      scripts.set(text, script);
      return connection.ask((client) => runScript(client, script, [`${prefix}:limit:${key}`], args));
    },
    state: connection.state,
    close: connection.close,
  };
}
