/** The lag with which the event loop of the main thread runs its timers. */
import { createHistogram } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';
import { type Clock, systemClock } from '../clock.ts';

/** Interval of the measurement, milliseconds. It shares its wake-up with what else is done every second. */
const PERIOD_MS = 1_000;

/** Microseconds that the histogram tells apart by two figures, up to an hour. By default it takes 1.1 MB, so 24 KB. */
const RANGE_US = { lowest: 1, highest: 3_600_000_000, figures: 2 };

/** Interval with which prom-client's timer never runs, milliseconds: about 24 days. */
export const UNUSED_RESOLUTION_MS = 2 ** 31 - 1;

/** Replaces prom-client's percentiles of the lag, whose timer would be most of the wake-ups of a program with little to do. */
export function replaceEventLoopLag(
  registry: Registry,
  prefix: string,
  clock: Pick<Clock, 'monotonic' | 'every'> = systemClock,
): void {
  const histogram = createHistogram(RANGE_US);
  /** Every second of the clock, since the timers of {@link systemClock} are aligned. */
  let dueMs = (Math.floor(clock.monotonic() / PERIOD_MS) + 1) * PERIOD_MS;
  clock.every(PERIOD_MS, () => {
    const nowMs = clock.monotonic();
    const lagUs = Math.round((nowMs - dueMs) * 1_000);
    histogram.record(Math.min(RANGE_US.highest, Math.max(RANGE_US.lowest, lagUs)));
    dueMs = (Math.floor(nowMs / PERIOD_MS) + 1) * PERIOD_MS;
  });
  const seconds = (us: number) => (histogram.count === 0 ? 0 : us / 1e6);
  const gauges = (
    [
      ['min', 'Shortest', () => seconds(histogram.min)],
      ['mean', 'Mean', () => seconds(histogram.mean)],
      ['stddev', 'Standard deviation of the', () => (histogram.count < 2 ? 0 : histogram.stddev / 1e6)],
      ['p50', '50th percentile of the', () => seconds(histogram.percentile(50))],
      ['p90', '90th percentile of the', () => seconds(histogram.percentile(90))],
      ['p99', '99th percentile of the', () => seconds(histogram.percentile(99))],
      ['max', 'Longest', () => seconds(histogram.max)],
    ] as const
  ).map(([what, words, read]) => {
    const name = `${prefix}nodejs_eventloop_lag_${what}_seconds`;
    registry.removeSingleMetric(name);
    return { name, help: `${words} delay of the event loop since the last scrape.`, read };
  });
  // One of them reads all values, and begins anew.
  let values = gauges.map(() => 0);
  for (const [index, { name, help }] of gauges.entries())
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        if (index === 0) {
          values = gauges.map(({ read }) => read());
          histogram.reset();
        }
        this.set(values[index] ?? 0);
      },
    });
}
