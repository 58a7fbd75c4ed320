/** Deletes incidents and transitions that are out of retention, by a time that a wrong clock cannot push forward. */
import type { Clock } from '../clock.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { nextRetentionTime, outOfRetention } from '../domain/retention.ts';
import type { Log } from '../log.ts';
import type { FactStore } from '../store/ports/registry.ts';
import type { RetentionStore } from '../store/ports/retention.ts';

/** What retention needs. */
export interface RetentionOptions {
  readonly registry: RetentionStore & FactStore;
  /** Milliseconds. */
  readonly retentionMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** The fact that holds the retention time, epoch milliseconds. */
const FACT = 'retention_time';

/**
 * Deletes what is old now, and every hour. Unlike `createRetentionClock`, which holds a step of the clock back for a day, the retention
 * time outlives restarts and any wrong clock, since incidents are the history of years. The first time of all, age counts by the newest observation of any service, so
 * it must start before the first check. Resolves when the retention time is known; deletion goes on behind it.
 */
export async function startRetention({ registry, retentionMs, clock, log }: RetentionOptions) {
  let isStopped = false;
  let lookedAt = clock.monotonic();
  let retentionTime = await readRetentionTime(registry, clock);

  async function run(): Promise<void> {
    const [now, monotonic] = [clock.now(), clock.monotonic()];
    retentionTime = nextRetentionTime(retentionTime, now, monotonic - lookedAt);
    lookedAt = monotonic;
    await registry.setFact(FACT, String(retentionTime));
    const before = outOfRetention(retentionTime, now, retentionMs);
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
  begin();
  const cancel = clock.every(HOUR_MS, begin);
  return {
    /** Resolves when every run that has begun has ended. */
    settled: () => running,
    /** Resolves when no call is under way. */
    async stop(): Promise<void> {
      isStopped = true;
      cancel();
      await running;
    },
  };
}

async function readRetentionTime(registry: RetentionOptions['registry'], clock: Clock): Promise<number> {
  const known = await registry.getFact(FACT);
  if (known !== null) return Number(known);
  return Math.min(clock.now(), (await registry.newestObservation()) ?? clock.now());
}
