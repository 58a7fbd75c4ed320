/** Long work on the file of the sample store in short transactions, so that queries are answered in between. */
import { systemClock } from '../../clock.ts';
import { levelAt, levelsKeyOf } from './day-levels.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';

/** The fact that says that every summary had a level once. */
const FILLED = 'levels.filled';

/** Length of a slice, milliseconds: queries wait for it. */
export const SLICE_MS = 5;

/** Runs `work` for each item, in transactions of about {@link SLICE_MS}. `onCommit` gets the items of each. */
export type InSlices = <Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  onCommit?: (items: readonly Item[]) => void,
) => Promise<void>;

/** Creates the function for a file. It rejects with what `work` throws; that transaction is rolled back. */
export function createSlices(database: SamplesDatabase): InSlices {
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

/** Returns true if the levels of a file have been filled in. A version that does not know them may have added days since. */
export function hasLevels(database: SamplesDatabase): boolean {
  return database.fact(FILLED) !== null;
}

/** Fills in what is missing, in slices; queries are answered between them. */
export async function fillLevels(database: SamplesDatabase, inSlices: InSlices): Promise<void> {
  await inSlices(database.series('summaries'), (number) => fillSeries(database, number));
  database.transaction(() => database.putFact(FILLED, '1'));
}

function fillSeries(database: SamplesDatabase, number: number): void {
  const first = number * KEY_DAYS;
  const end = first + KEY_DAYS;
  const rows = new Map(database.levels(first, end - 1).map(({ key, bytes }) => [key, bytes]));
  const isMissing = (key: number): boolean => {
    const row = rows.get(levelsKeyOf(key));
    return row === undefined || levelAt(row, key) === null;
  };
  const missing = database.summarized(first, end).filter(isMissing);
  if (missing.length === 0) return;
  const [from = first, to = first] = [missing[0], missing.at(-1)];
  for (const { key, bytes } of database.days(from, to)) if (isMissing(key)) database.putLevel(key, bytes);
}
