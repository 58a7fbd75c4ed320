/** Deletes incidents and transitions that are out of retention. */
import type { Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { RetentionStore } from '../store/ports/retention.ts';
import type { RetentionNow } from './retention-time.ts';

export interface RetentionOptions {
  readonly registry: RetentionStore;
  /** Milliseconds. */
  readonly retentionMs: number;
  readonly retentionNow: RetentionNow;
  /** Time before the first run, milliseconds. Default: 0. */
  readonly firstMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Deletes what is old now, or after a time, and every hour. */
export function startRetention(options: RetentionOptions) {
  const { registry, retentionMs, retentionNow, firstMs = 0, clock, log } = options;
  let isStopped = false;

  async function run(): Promise<void> {
    const before = (await retentionNow()) - retentionMs;
    let [incidents, transitions] = [0, 0];
    for (let position: number | null = 0; position !== null && !isStopped; ) {
      const forgotten = await registry.forgetOld(before, position);
      incidents += forgotten.incidents;
      transitions += forgotten.transitions;
      position = forgotten.position;
    }
    if (incidents + transitions > 0)
      log.info(
        { incidents, transitions },
        'incidents and changes of status that are out of retention are deleted',
      );
  }

  let running = Promise.resolve();
  const begin = () => {
    running = running.then(run).catch((error: Error) => {
      // Nothing is lost by waiting; the next hour tries again.
      log.warn({ problem: error.message }, 'what is out of retention cannot be deleted');
    });
  };
  let cancelFirst = (): void => {};
  if (firstMs === 0) begin();
  else cancelFirst = clock.after(firstMs, begin);
  const cancel = clock.every(HOUR_MS, begin);
  return {
    /** Resolves when every run that has begun has ended. */
    settled: () => running,
    /** Resolves when no call is under way. */
    async stop(): Promise<void> {
      isStopped = true;
      cancelFirst();
      cancel();
      await running;
    },
  };
}
