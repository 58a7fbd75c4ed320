/** The delay with which checks start: `node bench/scheduling.ts`. The fleet's prober responds at once. */
import { systemClock } from '../src/clock.ts';
import { Fleet } from '../src/engine/fleet/fleet.ts';
import { createTimingWheel } from '../src/engine/host/check-schedule.ts';
import { hashNumber } from '../src/engine/host/phase.ts';
import { silentLog } from '../src/log.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { atMost, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';
import { engineSettings } from './services.ts';

const CHECKS_PER_SECOND = 1_000;
const SECONDS = 15;
const WHEEL_ENTRIES = 1_000_000;
/** Time that the wheel turns in a measurement, milliseconds. */
const WHEEL_MS = 600_000;
const USUAL_MS = 300_000;
/** A fleet of services with intervals of their own: each up to this part of the entries, which become due as often as usual. */
const MIXED = [
  [0.000_2, 1_000],
  [0.01, 30_000],
  [0.8, USUAL_MS],
  [0.9, 3_600_000],
  [1, 86_400_000],
] as const;

/** Measures the timing wheel, the delay and the cost of the engine. */
export async function run(): Promise<readonly BenchRow[]> {
  const usual = measureWheel(() => USUAL_MS);
  const mixed = measureWheel(mixedInterval);
  const daily = measureWheel(() => 86_400_000);
  const { delayMs, cpuUs } = await measureFleet();
  return printRows([
    floor(
      'schedule: timing wheel of 1,000,000 entries at their phases',
      usual.pops / usual.seconds,
      'pop and insert/s',
    ),
    // An entry whose due time lies beyond the span of the wheel is passed once in each turn.
    ratioAtMost(
      'schedule: the same with intervals from 1 s to 24 h, in the same time',
      mixed.pops / mixed.seconds,
      'pop and insert/s',
      mixed.seconds / usual.seconds,
      1.5,
    ),
    ratioAtMost(
      'schedule: the same with intervals of 24 h, in the same time',
      daily.pops / daily.seconds,
      'pop and insert/s',
      daily.seconds / usual.seconds,
      1,
    ),
    atMost('schedule: start delay, p99, at 1,000 checks/s', delayMs, 'ms', 10),
    floor('schedule: CPU of a check without its attempt, both threads', cpuUs, 'µs'),
  ]);
}

/**
 * Creates a fleet of one thread with a prober that responds at once. Its services are checked every `intervalMs`, the first
 * time spread over the interval.
 */
export function openIdleFleet(intervalMs: number): Fleet {
  return new Fleet({
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

/** The interval of an entry of the mixed fleet, milliseconds. */
function mixedInterval(entry: number): number {
  // Consecutive entries have different intervals.
  const place = ((entry * 7_919) % WHEEL_ENTRIES) / WHEEL_ENTRIES;
  return MIXED.find(([part]) => place < part)?.[1] ?? USUAL_MS;
}

/** Turns a wheel of entries, each due in intervals of its own; `seconds` of CPU time for ten minutes of the wheel. */
function measureWheel(intervalOf: (entry: number) => number): {
  readonly pops: number;
  readonly seconds: number;
} {
  const intervals = Float64Array.from({ length: WHEEL_ENTRIES }, (_, entry) => intervalOf(entry));
  const wheel = createTimingWheel(0, 2.5);
  for (const [entry, intervalMs] of intervals.entries())
    wheel.schedule(entry, Math.floor((hashNumber(entry) / 2 ** 32) * intervalMs));
  const before = process.cpuUsage();
  let pops = 0;
  for (let now = 2.5; now <= WHEEL_MS; now += 2.5) {
    wheel.advance(now, (entry) => {
      pops++;
      wheel.schedule(entry, now + (intervals[entry] ?? USUAL_MS));
    });
  }
  const { user, system } = process.cpuUsage(before);
  return { pops, seconds: (user + system) / 1_000_000 };
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
