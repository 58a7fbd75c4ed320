/** Adds samples and summaries to the buckets of a query. */
import { type Bucket, percentileOf, weightedPercentileOf } from '../../domain/sample.ts';
import { MAX_BUCKETS, type SampleQuery } from '../ports/samples.ts';
import { isSuspect, latencyOf, type Series, verdictOf } from './encoding.ts';
import { addSummary, classOf, emptySummary, quantileOf, type Summary } from './summary.ts';

/** Samples without their times, counted exactly. Suspect ones count in `suspect` alone. */
export interface CountedSamples {
  /** By verdict: up, slow, down. */
  readonly counts: readonly [number, number, number];
  readonly suspect: number;
  /** The count of each latency in milliseconds. */
  readonly latencies: ReadonlyMap<number, number>;
}

/** Creates the empty buckets of a query. Throws a RangeError for a window that cannot be answered. */
export function createBucketing({ from, to, stepMs }: SampleQuery) {
  const count = Math.ceil((to - from) / stepMs);
  if (!(stepMs > 0) || !(to > from) || count > MAX_BUCKETS) {
    throw new RangeError(`a query has 1 to ${MAX_BUCKETS} buckets, not ${count}`);
  }
  /** Only those that something was added to: in a heat map of a year, most days are not read from here. */
  const exact: (Summary | undefined)[] = new Array(count);
  /** Latencies of single samples, from which percentiles are exact. */
  const latencies: (number[] | undefined)[] = new Array(count);
  /** Counts of latencies in buckets with counted samples. */
  const counted: (Map<number, number> | undefined)[] = new Array(count);
  const summarized = new Set<number>();

  const placeOf = (time: number): number => Math.floor((time - from) / stepMs);
  const exactAt = (place: number): Summary => {
    const known = exact[place] ?? emptySummary();
    exact[place] = known;
    return known;
  };

  const bucketAt = (place: number): Bucket => {
    const summary = exact[place] ?? emptySummary();
    const [up, slow, down] = summary.counts;
    const total = up + slow + down;
    const startAt = from + place * stepMs;
    const rank = summarized.has(place)
      ? sketchRank(summary, latencies[place] ?? [])
      : counted[place] === undefined
        ? exactRank(latencies[place] ?? [])
        : countedRank(counted[place], latencies[place] ?? []);
    return {
      startAt,
      endAt: Math.min(to, startAt + stepMs),
      count: total,
      upCount: up,
      slowCount: slow,
      downCount: down,
      suspectCount: summary.suspect,
      uptimeRatio: total === 0 ? null : (up + slow) / total,
      meanMs: summary.latencyCount === 0 ? null : summary.latencySum / summary.latencyCount,
      p50Ms: rank(0.5),
      p95Ms: rank(0.95),
      p99Ms: rank(0.99),
    };
  };

  return {
    /** Adds the samples that lie in the window. */
    addSeries({ times, outcomes }: Series): void {
      for (let index = 0; index < times.length; index++) {
        const time = times[index] as number;
        if (time < from || time >= to) continue;
        const place = placeOf(time);
        const bucket = exactAt(place);
        const outcome = outcomes[index] as number;
        if (isSuspect(outcome)) {
          bucket.suspect++;
          continue;
        }
        bucket.counts[verdictOf(outcome) as 0 | 1 | 2]++;
        const latency = latencyOf(outcome);
        if (latency === -1) continue;
        bucket.latencySum += latency;
        bucket.latencyCount++;
        const list = latencies[place];
        if (list === undefined) latencies[place] = [latency];
        else list.push(latency);
      }
    },
    /** Adds a summary whose span starts at `startAt`, to the bucket in which it starts. */
    addSummary(startAt: number, summary: Summary): void {
      if (startAt < from || startAt >= to) return;
      const place = placeOf(startAt);
      addSummary(exactAt(place), summary);
      summarized.add(place);
    },
    /** Adds samples that were counted by latency; their span, which starts at `startAt`, lies in one bucket. */
    addCounted(startAt: number, { counts, suspect, latencies: byLatency }: CountedSamples): void {
      if (startAt < from || startAt >= to) return;
      const place = placeOf(startAt);
      const bucket = exactAt(place);
      for (const verdict of [0, 1, 2] as const) bucket.counts[verdict] += counts[verdict];
      bucket.suspect += suspect;
      const sums = counted[place] ?? new Map<number, number>();
      counted[place] = sums;
      for (const [latency, times] of byLatency) {
        bucket.latencySum += latency * times;
        bucket.latencyCount += times;
        sums.set(latency, (sums.get(latency) ?? 0) + times);
      }
    },
    /** Returns true if a span lies in the window, and in one bucket. */
    holds: (startAt: number, lengthMs: number): boolean =>
      startAt >= from && startAt + lengthMs <= to && placeOf(startAt) === placeOf(startAt + lengthMs - 1),
    /** The bucket at a place, from 0. */
    bucketAt,
    buckets: (): Bucket[] => Array.from(exact, (_, place) => bucketAt(place)),
  };
}

type Rank = (ratio: number) => number | null;

function exactRank(latencies: readonly number[]): Rank {
  const sorted = Uint16Array.from(latencies).sort();
  return (ratio) => percentileOf(sorted, ratio);
}

/** Percentiles of counted latencies and single ones. */
function countedRank(counted: ReadonlyMap<number, number>, single: readonly number[]): Rank {
  const merged = new Map(counted);
  for (const latency of single) merged.set(latency, (merged.get(latency) ?? 0) + 1);
  const sorted = [...merged].sort((a, b) => a[0] - b[0]);
  const total = sorted.reduce((sum, [, times]) => sum + times, 0);
  return (ratio) => weightedPercentileOf(sorted, total, ratio);
}

/** Percentiles of a bucket with summaries and single latencies. */
function sketchRank({ sketch, latencyCount }: Summary, single: readonly number[]): Rank {
  const merged = emptySummary();
  addSummary(merged, { ...emptySummary(), sketch });
  for (const latency of single)
    merged.sketch.set(classOf(latency), (merged.sketch.get(classOf(latency)) ?? 0) + 1);
  const sorted = [...merged.sketch].sort((a, b) => a[0] - b[0]);
  return (ratio) => quantileOf(sorted, latencyCount, ratio);
}
