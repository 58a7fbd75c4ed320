/** What the world's store of samples answers. */
import type { Bucket } from '../../src/domain/sample.ts';
import type { SampleQuery } from '../../src/store/ports/samples.ts';

/** One bucket a step, all alike, so that a test can count on them. */
export function bucketsOf({ from, to, stepMs }: SampleQuery): Bucket[] {
  return Array.from({ length: Math.ceil((to - from) / stepMs) }, (_, index) => ({
    startAt: from + index * stepMs,
    endAt: Math.min(to, from + (index + 1) * stepMs),
    count: 4,
    upCount: 2,
    slowCount: 1,
    downCount: 1,
    suspectCount: 1,
    uptimeRatio: 0.75,
    meanMs: 100.04,
    p50Ms: 90,
    p95Ms: 200,
    p99Ms: 250,
  }));
}
