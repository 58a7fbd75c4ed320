/** How late checks began against their due time, for the report of each second. */
import { percentileOf } from '../../domain/percentile.ts';
import type { HostReport } from '../protocol.ts';

/** Collects delays until they are taken. */
export interface StartDelays {
  /** A check began this many milliseconds after it was due. */
  note(delayMs: number): void;
  /** Percentiles by nearest rank over what was noted since the last call; zeros where nothing was. */
  take(): HostReport['startDelayMs'];
}

/** More checks than this in a second are sampled: the newest overwrite the oldest. */
const KEPT = 4_096;

/** Makes an empty collection. */
export function createStartDelays(): StartDelays {
  const delays = new Float32Array(KEPT);
  let count = 0;
  return {
    note(delayMs) {
      delays[count++ % KEPT] = Math.max(0, delayMs);
    },
    take() {
      const sorted = delays.slice(0, Math.min(count, KEPT)).sort();
      count = 0;
      const rank = (ratio: number) => percentileOf(sorted, ratio) ?? 0;
      return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
    },
  };
}
