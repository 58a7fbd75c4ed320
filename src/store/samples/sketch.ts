/**
 * Quantiles that merge: latencies counted in classes that grow by 2 %, so that a quantile is within 1 % of the exact
 * one (Masson, Rim and Lee, "DDSketch", 2019). Up to 50 ms the classes are single milliseconds, and exact.
 */
import { weightedPercentileOf } from '../../domain/percentile.ts';

/** Counts by class. */
export type Sketch = Map<number, number>;

const EXACT_UP_TO = 50;
const GROWTH = 1.02;
const LOG_GROWTH = Math.log(GROWTH);

/** The class of a latency in milliseconds. */
export function classOf(latencyMs: number): number {
  if (latencyMs <= EXACT_UP_TO) return latencyMs;
  return EXACT_UP_TO + Math.ceil(Math.log(latencyMs / EXACT_UP_TO) / LOG_GROWTH);
}

/** The latency that stands for a class, whole milliseconds. */
export function latencyOfClass(index: number): number {
  if (index <= EXACT_UP_TO) return index;
  const upper = EXACT_UP_TO * GROWTH ** (index - EXACT_UP_TO);
  return Math.round((2 * upper) / (1 + GROWTH));
}

/** Counts a class in. */
export function addToSketch(sketch: Sketch, index: number, count = 1): void {
  sketch.set(index, (sketch.get(index) ?? 0) + count);
}

/** The quantile by nearest rank, milliseconds; null: nothing was counted. */
export function quantileOf(
  sorted: readonly (readonly [index: number, count: number])[],
  total: number,
  ratio: number,
): number | null {
  const index = weightedPercentileOf(sorted, total, ratio);
  return index === null ? null : latencyOfClass(index);
}
