/** The time by which the age of what is deleted one day counts, kept in the registry so that no wrong clock can push it; and the deletion. */
import type { Clock } from '../clock.ts';
import { HOUR_MS, nextRetentionTime } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';
import type { RetentionStore } from '../store/ports/updates.ts';

/** Reads the retention time: epoch milliseconds, never later than the wall clock. Rejects if the registry cannot be read. */
export type RetentionNow = () => Promise<number>;

/** The fact that holds the retention time, epoch milliseconds. */
const FACT = 'retention_time';

/**
 * Creates the reader of the retention time. It moves when it is read, at most twice as fast as the monotonic clock, and outlives restarts.
 * The first time of all, age counts by the newest observation of any service, so it has to be read once before the first check. Several
 * readers of a registry agree on the furthest of them.
 */
export function createRetentionTime({
  registry,
  clock,
}: {
  readonly registry: RetentionStore & FactStore;
  readonly clock: Clock;
}): RetentionNow {
  let known: number | null = null;
  let readAt = clock.monotonic();

  const read = async (): Promise<number> => {
    const stored = await readStored();
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    const own = nextRetentionTime(known ?? stored ?? (await firstTime()), now, monotonic - readAt);
    readAt = monotonic;
    known = Math.max(own, stored ?? own);
    if (known !== stored)
      await registry.setFact(FACT, String(known)).catch(() => {
        // A registry that takes no writes deletes nothing either; the next reading writes it.
      });
    return Math.min(known, now);
  };
  const readStored = async (): Promise<number | null> => {
    const fact = await registry.getFact(FACT);
    // Versions before 0.3 stored fractions of milliseconds.
    return fact === null ? null : Math.floor(Number(fact));
  };
  const firstTime = async (): Promise<number> =>
    Math.min(clock.now(), (await registry.newestObservation()) ?? clock.now());

  /** Readings follow each other, so that none counts the same time again. */
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const reading = last.then(read);
    last = reading.catch(() => {});
    return reading;
  };
}

/** Deletes what is old now, or after a time, and every hour. */
export function startRetention(options: {
  readonly registry: RetentionStore;
  /** Milliseconds. */
  readonly retentionMs: number;
  readonly retentionNow: RetentionNow;
  /** Time before the first run, milliseconds. Default: 0. */
  readonly firstMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}) {
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
