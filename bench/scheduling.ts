/**
 * How late checks begin: `node bench/scheduling.ts`. A fleet with a prober that answers at once, so that only the engine
 * is seen.
 */
import { createTimingWheel } from '../src/engine/host/timing-wheel.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { openIdleFleet } from './idle-fleet.ts';
import { type BenchRow, floor, median, printRows } from './row.ts';

const CHECKS_A_SECOND = 1_000;
const SECONDS = 15;

/** Measures the wheel and the delay. */
export async function run(): Promise<BenchRow[]> {
  const wheel = measureWheel();
  const delay = await measureDelay();
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

/** Median over the seconds of each second's 99th percentile. */
async function measureDelay(): Promise<number> {
  const intervalMs = 5_000;
  const fleet = openIdleFleet(intervalMs);
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

if (import.meta.main) await run();
