/** What the monitor says of itself, as a process that only serves reads it every second. */
import type { Clock } from '../../clock.ts';
import type { RedisAddress } from '../../domain/redis-address.ts';
import type { Log } from '../../log.ts';
import { openRedisConnection, type RedisConnectionState } from './redis-connection.ts';

/** Behind the prefix: a hash, kept by the monitor. */
export const MONITOR_KEY = '{monitor}:words';
/** Behind the prefix: a sorted set of the numbers of services by the end of their silence, epoch milliseconds. */
export const DEADLINES_KEY = '{heartbeats}:deadlines';

/** The reader. */
export interface MonitorStateReader {
  state(): RedisConnectionState;
  close(): void;
}

const TIMEOUT_MS = 1_000;

/** Reads the fields until it is closed; `onState` hears them after each reading, as they were written. */
export function openMonitorState(options: {
  readonly address: RedisAddress;
  readonly onState: (fields: Readonly<Record<string, string>>) => void;
  readonly clock: Clock;
  readonly log: Log;
}): MonitorStateReader {
  const { address, onState, clock, log } = options;
  const read = async (client: { hgetall(key: string): Promise<Record<string, string>> }) =>
    onState(await client.hgetall(`${address.prefix}:${MONITOR_KEY}`));
  const { state, close } = openRedisConnection({
    address,
    purpose: 'fields',
    timeoutMs: TIMEOUT_MS,
    prepare: read,
    // Every second.
    probe: read,
    clock,
    log,
  });
  return { state, close };
}
