/** One log line for an event that happens to many pages at once, such as while the machine is offline. */
import type { Cancel, Clock } from '../clock.ts';

/** Collects the pages of one log line. */
interface LogBatch<T> {
  add(page: T): void;
  /** Writes the collected pages at once. */
  flush(): void;
}

const BATCH_MS = 5_000;
/** Maximum number of pages in a line. */
const MAX_PAGES = 5;

/** Creates a batch that calls `write` 5 s after its first page, with the first 5 pages and the number of all others. */
export function createLogBatch<T>(
  clock: Pick<Clock, 'after'>,
  write: (batch: { readonly pages: readonly T[]; readonly more: number }) => void,
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
    add(page) {
      count++;
      if (pages.length < MAX_PAGES) pages.push(page);
      cancel ??= clock.after(BATCH_MS, flush);
    },
    flush,
  };
}
