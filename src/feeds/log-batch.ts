/** One line of the log for what happens to many at once: a machine without a connection fails to read every page. */
import type { Cancel, Clock } from '../clock.ts';

/** What is gathered, and how many are not named. */
export interface GatheredPages<T> {
  readonly pages: readonly T[];
  readonly more: number;
}

/** Gathers. */
export interface LogBatch<T> {
  /** Adds one; what comes within a few seconds becomes one line. */
  tell(page: T): void;
  /** Writes what is gathered at once. */
  stop(): void;
}

const GATHER_MS = 5_000;
/** Named in a line; the metrics know all. */
const NAMED = 5;

/** Makes a line that is written by `write` a few seconds after its first entry. */
export function createLogBatch<T>(
  clock: Pick<Clock, 'after'>,
  write: (gathered: GatheredPages<T>) => void,
): LogBatch<T> {
  let pages: T[] = [];
  let count = 0;
  let cancel: Cancel | null = null;
  const flush = (): void => {
    cancel?.();
    cancel = null;
    if (count > 0) write({ pages, more: count - pages.length });
    pages = [];
    count = 0;
  };
  return {
    tell(page) {
      count++;
      if (pages.length < NAMED) pages.push(page);
      cancel ??= clock.after(GATHER_MS, flush);
    },
    stop: flush,
  };
}
