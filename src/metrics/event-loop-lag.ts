/** How late the event loop of the main thread runs its timers. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Gauge, type Registry } from 'prom-client';

/**
 * Interval of the timer whose lateness is measured, milliseconds. prom-client's own, 10 ms, would be most of the wake-ups of a
 * program with little to do.
 */
const RESOLUTION_MS = 100;

/** Interval with which prom-client's timer never runs, milliseconds: about 24 days. */
export const UNUSED_RESOLUTION_MS = 2 ** 31 - 1;

/** Replaces prom-client's percentiles of the lag, which contain the interval of its timer, by such of the lag alone. */
export function replaceEventLoopLag(registry: Registry, prefix: string): void {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  const seconds = (ns: number) => (histogram.count === 0 ? 0 : Math.max(0, ns / 1e9 - RESOLUTION_MS / 1_000));
  const gauges = (
    [
      ['min', 'Shortest', () => seconds(histogram.min)],
      ['mean', 'Mean', () => seconds(histogram.mean)],
      ['stddev', 'Standard deviation of the', () => (histogram.count < 2 ? 0 : histogram.stddev / 1e9)],
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
