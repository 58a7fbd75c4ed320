/**
 * How late checks begin, and what a service costs in memory: `node bench/scheduling.ts`. A fleet with a prober that
 * answers at once, so that only the engine is seen.
 */
import { systemClock } from '../src/clock.ts';
import { createFleet } from '../src/engine/fleet/fleet.ts';
import { createTimingWheel } from '../src/engine/host/timing-wheel.ts';
import { silentLog } from '../src/log.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { type BenchRow, floor, median, printRows } from './row.ts';

const CHECKS_A_SECOND = 1_000;
const SECONDS = 15;
const MANY = 50_000;

/** Measures the wheel, the delay and the memory. */
export async function run(): Promise<BenchRow[]> {
  const wheel = measureWheel();
  const delay = await measureDelay();
  const bytes = await measureMemory();
  const rows: BenchRow[] = [
    floor('schedule: timing wheel of 1,000,000 entries', wheel, 'pop and insert/s'),
    {
      name: 'schedule: start delay, p99, at 1,000 checks/s',
      value: delay,
      unit: 'ms',
      ratio: null,
      target: '<= 50',
      reached: delay <= 50,
    },
    {
      name: 'schedule: memory of a service in a fleet of 50,000',
      value: bytes,
      unit: 'bytes',
      ratio: null,
      target: '<= 2048',
      reached: bytes <= 2_048,
    },
  ];
  printRows(rows);
  return rows;
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

function openFleet(intervalMs: number, firstSpreadMs: number) {
  return createFleet({
    settings: { intervalMs, timeoutMs: 10_000, confirmAfterMs: [], firstSpreadMs, concurrency: 256 },
    threads: 1,
    entry: new URL('../test/engine/fake-host.ts', import.meta.url),
    prober: null,
    clock: systemClock,
    log: silentLog,
    onResults() {},
    onDoubt() {},
    onFatal(error) {
      throw error;
    },
  });
}

/** Median over the seconds of each second's 99th percentile. */
async function measureDelay(): Promise<number> {
  const intervalMs = 5_000;
  const fleet = openFleet(intervalMs, intervalMs);
  await fleet.start(
    Array.from({ length: (CHECKS_A_SECOND * intervalMs) / 1_000 }, (_, index) => targetOf(index + 1)),
  );
  await new Promise((resolve) => setTimeout(resolve, intervalMs * 1.5));
  const delays: number[] = [];
  for (let second = 0; second < SECONDS; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    delays.push(fleet.report().hosts[0]?.startDelayMs.p99 ?? Number.NaN);
  }
  await fleet.stop();
  return median(delays);
}

/** What the process grows by for each service: both threads, every structure. */
async function measureMemory(): Promise<number> {
  const fleet = openFleet(300_000, 300_000);
  await fleet.start([]);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const before = process.memoryUsage().rss;
  for (let id = 1; id <= MANY; id++)
    fleet.apply({ serviceId: id, target: targetOf(id, { lastCheckedAt: Date.now() }) });
  await new Promise((resolve) => setTimeout(resolve, 4_000));
  const grown = process.memoryUsage().rss - before;
  await fleet.stop();
  return grown / MANY;
}

if (import.meta.main) await run();
