/** Everything that a monitor keeps in Redis, for `storage.redis.url`: statuses, limits and events. */
import type { Clock } from '../../clock.ts';
import { readRedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import type { RedisConnectionState } from './redis-connection.ts';
import { openRedisLimitServer, type RedisLimitServer } from './redis-limit-server.ts';
import { openRedisStatusStore, type RedisStatusStore } from './redis-status-store.ts';
import {
  openRedisTransitionStream,
  type RedisTransitionStream,
  type TransitionStreamOptions,
} from './redis-transition-stream.ts';

/** The parts, and how they are together. */
export interface RedisParts {
  readonly status: RedisStatusStore;
  readonly limits: RedisLimitServer;
  /** Begins to write transitions; once. */
  writeTransitions(sources: Pick<TransitionStreamOptions, 'registry' | 'watchTransitions'>): void;
  /** Why Redis is not of use, one line without secrets; null: it is. */
  problem(): string | null;
  /** Sums over the connections, since the start. */
  stats(): { readonly commandsFailed: number; readonly reconnects: number };
  /** Ends the connections; the status store is closed too. */
  close(): Promise<void>;
}

/** Opens the parts; Redis may be away. Throws where `url` has none of the forms of `readRedisAddress`. */
export function openRedisParts(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}): RedisParts {
  const { url, clock, log } = options;
  const address = readRedisAddress(url);
  if (address === null) throw new Error('storage.redis.url has no known form');
  const common = { address, clock, log };
  const status = openRedisStatusStore(common);
  const limits = openRedisLimitServer(common);
  let events: RedisTransitionStream | null = null;
  const states = (): RedisConnectionState[] => [
    status.state(),
    limits.state(),
    ...(events === null ? [] : [events.state()]),
  ];
  const sum = (figure: 'commandsFailed' | 'reconnects') =>
    states().reduce((total, state) => total + state[figure], 0);
  return {
    status,
    limits,
    writeTransitions(sources) {
      events ??= openRedisTransitionStream({ ...common, ...sources, mayWrite: () => !status.superseded });
    },
    problem: () => states().find(({ problem }) => problem !== null)?.problem ?? null,
    stats: () => ({ commandsFailed: sum('commandsFailed'), reconnects: sum('reconnects') }),
    async close() {
      events?.close();
      limits.close();
      await status.close();
    },
  };
}
