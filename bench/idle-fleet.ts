/** A fleet of one thread with a prober that answers at once, for benchmarks of the engine alone. */
import { systemClock } from '../src/clock.ts';
import { createFleet, type Fleet } from '../src/engine/fleet/fleet.ts';
import { silentLog } from '../src/log.ts';

/** Makes one whose services are checked every `intervalMs`, the first time spread over as long. */
export function openIdleFleet(intervalMs: number): Fleet {
  return createFleet({
    settings: {
      intervalMs,
      timeoutMs: 10_000,
      slowOverMs: 3_000,
      confirmAfterMs: [],
      firstSpreadMs: intervalMs,
      concurrency: 256,
    },
    threads: 1,
    entry: new URL('../test/engine/fake-host.ts', import.meta.url),
    prober: null,
    clock: systemClock,
    log: silentLog,
    onResults() {},
    onDoubt() {},
    onDelay() {},
    onFatal(error) {
      throw error;
    },
  });
}
