/** Everything that is kept in Redis, for `storage.redis.url`: by the one process that probes, and by those that serve. */
import type { Clock } from '../../clock.ts';
import { readRedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import type { RedisConnectionState } from './redis-connection.ts';
import { openRedisLimitServer, type RedisLimitServer } from './redis-limit-server.ts';
import { openRedisMirror } from './redis-mirror.ts';
import { DEADLINES_KEY, MONITOR_KEY, openMonitorState } from './redis-monitor-state.ts';
import { openRedisStatusReader, type RedisStatusReader } from './redis-status-reader.ts';
import { openRedisStatusStore, type RedisStatusStore } from './redis-status-store.ts';
import { openRedisTransitionStream, type TransitionStreamOptions } from './redis-transition-stream.ts';

/** What only the monitor has. */
export interface RedisMonitorParts {
  readonly status: RedisStatusStore;
  /** Begins to write what follows from the record; once. */
  write(
    sources: Pick<TransitionStreamOptions, 'registry' | 'watchTransitions'> & {
      /** What the monitor says of itself, by name. */
      readonly fields: () => ReadonlyMap<string, string>;
      /** Ends of silence of services that report by themselves, epoch milliseconds, by number. */
      readonly deadlines: () => ReadonlyMap<number, number>;
    },
  ): void;
  /** Ends the connections; the status store is closed too. */
  close(): Promise<void>;
}

/** What a process has that only serves. */
export interface RedisServingParts {
  readonly status: RedisStatusReader;
  close(): Promise<void>;
}

/** The parts, and how they are together. */
export interface RedisParts {
  readonly limits: RedisLimitServer;
  /** Opens what the monitor writes; only the holder of the writer lease may, and only while `isFresh`. */
  openMonitor(isFresh: () => boolean): RedisMonitorParts;
  /** Opens what others read; `onState` hears every second what the monitor says of itself. */
  openServing(onState: (fields: Readonly<Record<string, string>>) => void): RedisServingParts;
  /** Why Redis is not of use, one line without secrets; null: it is. */
  problem(): string | null;
  /** Sums over the open connections. */
  stats(): { readonly commandsFailed: number; readonly reconnects: number };
  /** Ends the limits; the others are closed by themselves. */
  close(): void;
}

/** Opens the limits, which every process has; Redis may be away. Throws where `url` has no form of `readRedisAddress`. */
export function openRedisParts(options: {
  readonly url: string;
  readonly clock: Clock;
  readonly log: Log;
}): RedisParts {
  const { url, clock, log } = options;
  const address = readRedisAddress(url);
  if (address === null) throw new Error('storage.redis.url has no known form');
  const common = { address, clock, log };
  const limits = openRedisLimitServer(common);
  const open = new Set<{ state(): RedisConnectionState }>([limits]);
  const states = (): RedisConnectionState[] => [...open].map((part) => part.state());
  const sum = (figure: 'commandsFailed' | 'reconnects') =>
    states().reduce((total, state) => total + state[figure], 0);

  return {
    limits,
    openMonitor(isFresh) {
      const status = openRedisStatusStore({ ...common, mayWrite: isFresh });
      open.add(status);
      const writers: { state(): RedisConnectionState; close(): void }[] = [];
      const mayWrite = () => !status.superseded;
      return {
        status,
        write({ fields, deadlines, ...sources }) {
          const scores = () => new Map([...deadlines()].map(([id, at]) => [String(id), String(at)]));
          const keys = [
            { key: MONITOR_KEY, type: 'hash', read: fields },
            { key: DEADLINES_KEY, type: 'sorted-set', read: scores },
          ] as const;
          writers.push(
            openRedisTransitionStream({ ...common, ...sources, mayWrite }),
            openRedisMirror({ ...common, keys, mayWrite: () => mayWrite() && isFresh() }),
          );
          for (const writer of writers) open.add(writer);
        },
        async close() {
          for (const writer of writers) {
            open.delete(writer);
            writer.close();
          }
          open.delete(status);
          await status.close();
        },
      };
    },
    openServing(onState) {
      const status = openRedisStatusReader(common);
      const fields = openMonitorState({ ...common, onState });
      open.add(status);
      open.add(fields);
      return {
        status,
        async close() {
          open.delete(status);
          open.delete(fields);
          fields.close();
          await status.close();
        },
      };
    },
    problem: () => states().find(({ problem }) => problem !== null)?.problem ?? null,
    stats: () => ({ commandsFailed: sum('commandsFailed'), reconnects: sum('reconnects') }),
    close: limits.close,
  };
}
