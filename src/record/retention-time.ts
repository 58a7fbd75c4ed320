/** The time by which the age of what is deleted one day counts, kept in the registry so that no wrong clock can push it. */
import type { Clock } from '../clock.ts';
import { nextRetentionTime } from '../domain/retention.ts';
import type { Facts } from '../store/ports/registry.ts';
import type { RetentionStore } from '../store/ports/retention.ts';

/** Reads the retention time: epoch milliseconds, never later than the wall clock. Rejects if the registry cannot be read. */
export type RetentionNow = () => Promise<number>;

export interface RetentionTimeOptions {
  readonly registry: RetentionStore & Facts;
  readonly clock: Clock;
}

/** The fact that holds the retention time, epoch milliseconds. */
const FACT = 'retention_time';

/**
 * Creates the reader of the retention time. It moves when it is read, at most twice as fast as the monotonic clock, and outlives restarts.
 * The first time of all, age counts by the newest observation of any service, so it has to be read once before the first check. Several
 * readers of a registry agree on the furthest of them.
 */
export function createRetentionTime({ registry, clock }: RetentionTimeOptions): RetentionNow {
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
