/** A fleet over scripted threads that remembers its results, and ways to wait for them. */
import { systemClock } from '../../src/clock.ts';
import type { CheckResult } from '../../src/domain/result.ts';
import { Fleet, type FleetOptions } from '../../src/engine/fleet/fleet.ts';
import { silentLog } from '../../src/log.ts';

/** Interval of the fleets under test. */
export const INTERVAL_MS = 500;

/** Makes a fleet with changes to its options. */
export function observe(changes: Partial<FleetOptions> = {}) {
  const results: CheckResult[] = [];
  const doubts: number[] = [];
  const fatal = Promise.withResolvers<Error>();
  const fleet = new Fleet({
    settings: {
      intervalMs: INTERVAL_MS,
      timeoutMs: 1_000,
      slowOverMs: 3_000,
      confirmAfterMs: [20, 20],
      firstSpreadMs: 100,
      concurrency: 16,
    },
    threads: 1,
    entry: new URL('./fake-host.ts', import.meta.url),
    prober: null,
    clock: systemClock,
    log: silentLog,
    onResults: (batch) => void results.push(...batch),
    onDoubt: (failedAt) => void doubts.push(failedAt),
    onDelay() {},
    onFatal: fatal.resolve,
    ...changes,
  });
  const until = async (condition: () => boolean, withinMs = 60_000) => {
    const deadline = performance.now() + withinMs;
    while (!condition()) {
      if (performance.now() > deadline) throw new Error(`it did not come true within ${withinMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  };
  const countOf = (serviceId: number) => results.filter((result) => result.serviceId === serviceId).length;
  return { fleet, results, doubts, fatal: fatal.promise, until, countOf };
}
