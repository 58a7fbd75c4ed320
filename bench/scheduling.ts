/** The delay with which checks start: `node bench/scheduling.ts`. The fleet's prober responds at once. */
import { systemClock } from '../src/clock.ts';
import { createFleet, type Fleet } from '../src/engine/fleet/fleet.ts';
import { createTimingWheel } from '../src/engine/host/timing-wheel.ts';
import { silentLog } from '../src/log.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { atMost, type BenchRow, floor, median, printRows } from './row.ts';
import { engineSettings } from './services.ts';

const CHECKS_PER_SECOND = 1_000;
const SECONDS = 15;

/** Measures the timing wheel, the delay and the cost of the engine. */
export async function run(): Promise<readonly BenchRow[]> {
  const wheel = measureWheel();
  const { delayMs, cpuUs } = await measureFleet();
  return printRows([
    floor('schedule: timing wheel of 1,000,000 entries', wheel, 'pop and insert/s'),
    atMost('schedule: start delay, p99, at 1,000 checks/s', delayMs, 'ms', 50),
    floor('schedule: CPU of a check without its attempt, both threads', cpuUs, 'µs'),
  ]);
}

/**
 * Creates a fleet of one thread with a prober that responds at once. Its services are checked every `intervalMs`, the first
 * time spread over the interval.
 */
export function openIdleFleet(intervalMs: number): Fleet {
  return createFleet({
    settings: engineSettings({ intervalMs, confirmAfterMs: [] }),
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

function measureWheel(): number {
  const entries = 1_000_000;
  const wheel = createTimingWheel(0, 10);
  for (let entry = 0; entry < entries; entry++) wheel.schedule(entry, (entry * 7) % 300_000);
  const startedMs = performance.now();
  let pops = 0;
  for (let now = 10; now <= 600_000; now += 10) {
    wheel.advance(now, (entry) => {
      pops++;
      wheel.schedule(entry, now + 300_000);
    });
  }
  return pops / ((performance.now() - startedMs) / 1_000);
}

/** Measures a fleet: the median of the 99th percentiles of each second, and the CPU time of a check. */
async function measureFleet(): Promise<{ readonly delayMs: number; readonly cpuUs: number }> {
  const intervalMs = 5_000;
  const fleet = openIdleFleet(intervalMs);
  await fleet.start(
    Array.from({ length: (CHECKS_PER_SECOND * intervalMs) / 1_000 }, (_, index) => targetOf(index + 1)),
  );
  await new Promise((resolve) => setTimeout(resolve, intervalMs * 1.5));
  const delays: number[] = [];
  const [cpuBefore, checksBefore] = [process.cpuUsage(), fleet.report().checksDone];
  for (let second = 0; second < SECONDS; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    delays.push(fleet.report().hosts[0]?.startDelayMs.p99 ?? Number.NaN);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuUs = (user + system) / (fleet.report().checksDone - checksBefore);
  await fleet.stop();
  return { delayMs: median(delays), cpuUs };
}

if (import.meta.main) await run();
