/** Long work on the file of the sample store in short transactions, so that queries are answered in between. */
import { systemClock } from '../../clock.ts';
import type { SamplesDatabase } from './samples-database.ts';

/** Length of a slice, milliseconds: queries wait for it. */
export const SLICE_MS = 5;

/** Runs `work` for each item, in transactions of about {@link SLICE_MS}. `onCommit` gets the items of each. */
export type InSlices = <Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  onCommit?: (items: readonly Item[]) => void,
) => Promise<void>;

/** Creates the function for a file. It rejects with what `work` throws; that transaction is rolled back. */
export function createSlices(database: Pick<SamplesDatabase, 'transaction'>): InSlices {
  return async <Item>(
    items: Iterable<Item>,
    work: (item: Item) => void,
    onCommit: (items: readonly Item[]) => void = () => {},
  ): Promise<void> => {
    const iterator = items[Symbol.iterator]();
    for (let next = iterator.next(); next.done !== true; ) {
      const done: Item[] = [];
      database.transaction(() => {
        const endMs = systemClock.monotonic() + SLICE_MS;
        do {
          work(next.value as Item);
          done.push(next.value as Item);
          next = iterator.next();
        } while (next.done !== true && systemClock.monotonic() < endMs);
      });
      onCommit(done);
      await nextTurn();
    }
  };
}

/** Resolves after what waits in the event loop now. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
