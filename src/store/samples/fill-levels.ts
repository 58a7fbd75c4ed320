/** Fills in the levels of days whose summaries have none: those of an earlier version of the program. */
import { levelAt, levelsKeyOf } from './day-levels.ts';
import { KEY_DAYS, type SamplesDatabase } from './samples-database.ts';
import type { InSlices } from './slices.ts';

/** The fact that says that every summary had a level once. */
const FILLED = 'levels.filled';

/** Whether the levels of a file have been filled in. A version that does not know them may have added days since. */
export function hasLevels(database: Pick<SamplesDatabase, 'fact'>): boolean {
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
