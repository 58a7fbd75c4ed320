/**
 * How many examples a property is tried with. `npm test` tries few, so that it stays quick; `npm run soak -- fuzz` tries
 * the same properties with many more.
 */

/** Set by `test/soak/fuzz.ts`: how many times the examples of a day are tried. */
export const FUZZ_VARIABLE = 'TEST_FUZZ_TIMES';

const times = Number(process.env[FUZZ_VARIABLE] ?? 1);

/** The examples to try of a property, or of a table that is too long for every day. `daily`: in `npm test`. */
export function propertyRuns(daily: number): number {
  return daily * times;
}

/** Every `step`-th item of a table in `npm test`, beginning with item `from`; every item in `npm run soak -- fuzz`. */
export function everyNth<T>(table: readonly T[], step: number, from: number): readonly T[] {
  return times > 1 ? table : table.filter((_, index) => (index + from) % step === 0);
}

/** The size of what a test makes: `daily` in `npm test`, `long` in `npm run soak -- fuzz`. */
export function sizeOf(daily: number, long: number): number {
  return times > 1 ? long : daily;
}
