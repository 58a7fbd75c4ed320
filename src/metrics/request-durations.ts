/** The histogram of the durations of requests by route, which costs less for each request than the one of the library. */
import type { Metric, MetricValueWithName, Registry } from 'prom-client';
import { getOrInsert } from '../async/bounded-map.ts';

/** Options of {@link addRequestDurations}. */
export interface DurationsOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, seconds, ascending. */
  readonly buckets: readonly number[];
}

interface Series {
  /** Requests by the first bucket that holds them; the last one has no bound. */
  readonly counts: number[];
  sumSeconds: number;
}

/** Adds the histogram to a registry. Returns the function that counts a request of a route. */
export function addRequestDurations(
  registry: Registry,
  { name, help, buckets }: DurationsOptions,
): (route: string, seconds: number) => void {
  const byRoute = new Map<string, Series>();
  const read = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...byRoute].flatMap(([route, series]) => listValues(name, route, series, buckets)),
  });
  // The registry needs no more of a metric than these members.
  registry.registerMetric({ name, get: read, reset: () => byRoute.clear() } as unknown as Metric);
  return (route, seconds) => {
    const series = getOrInsert(byRoute, route, () => ({
      counts: new Array<number>(buckets.length + 1).fill(0),
      sumSeconds: 0,
    }));
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumSeconds += seconds;
  };
}

/** The values of a route, in the order in which the library writes them. Each bucket includes those below it. */
function listValues(
  name: string,
  route: string,
  { counts, sumSeconds }: Series,
  buckets: readonly number[],
): MetricValueWithName<'le' | 'route'>[] {
  let total = 0;
  const bounded = counts.map((count, bucket) => {
    total += count;
    const le = buckets[bucket] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { le, route }, value: total };
  });
  return [
    ...bounded,
    { metricName: `${name}_sum`, labels: { route }, value: sumSeconds },
    { metricName: `${name}_count`, labels: { route }, value: total },
  ];
}
