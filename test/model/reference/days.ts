/** The reference implementation's daily figures. "D" is the contract's page of decisions. */
import type { Outcome } from '../diary.ts';
import type { Verdict } from './prober.ts';

/** A sample; `at`: epoch milliseconds. */
export interface ReferenceSample {
  readonly service: number;
  readonly at: number;
  readonly outcome: Verdict | 'suspect';
}

/** Counts them by day. */
export function daysOf(samples: Iterable<ReferenceSample>): Outcome['days'][number][] {
  const days = new Map<
    string,
    {
      service: number;
      day: string;
      up: number;
      slow: number;
      down: number;
      suspect: number;
      uptime: number | null;
    }
  >();
  for (const { service, at, outcome } of samples) {
    const day = new Date(at).toISOString().slice(0, 10);
    const key = `${String(service).padStart(5)} ${day}`;
    const figures = days.get(key) ?? { service, day, up: 0, slow: 0, down: 0, suspect: 0, uptime: null };
    figures[outcome] += 1;
    days.set(key, figures);
  }
  for (const one of days.values()) {
    // D: suspect results are "kept out of uptime and percentiles"; slow counts as up.
    const count = one.up + one.slow + one.down;
    one.uptime = count === 0 ? null : (one.up + one.slow) / count;
  }
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}
