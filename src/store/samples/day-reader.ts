/** Reads what the file has of a day. A disk may have changed any of it: that costs its day, and nothing else. */
import { BoundedMap } from '../../async/bounded-map.ts';
import { DAY_MS } from '../../domain/durations.ts';
import { decodeBlock, type Series, STRIDE } from './encoding.ts';
import { KEY_DAYS } from './samples-database.ts';
import { decodeDay, decodeHours, type Hours, type Summary } from './summary.ts';

/** The reader of a file. What is damaged is counted once, and read as null. */
export type DayReader = ReturnType<typeof createDayReader>;

/** Maximum number of damaged days that are remembered, so that each is counted once. */
const MAX_REMEMBERED = 10_000;
/** Series have numbers below this; see `series.ts`. */
const MAX_SERIES = 2 ** 37;
const MAX_OUTCOME = 2 ** 32;

export function createDayReader() {
  const known = new BoundedMap<string, true>(MAX_REMEMBERED);
  let damaged = 0;
  const note = (name: string): null => {
    if (known.get(name) === undefined) damaged++;
    known.set(name, true);
    return null;
  };
  const read = <T>(what: string, key: number, decode: () => T | null): T | null => {
    try {
      return decode() ?? note(`${what} ${key}`);
    } catch {
      return note(`${what} ${key}`);
    }
  };
  return {
    block: (key: number, bytes: Uint8Array): Series | null =>
      read('block', key, () => {
        const series = decodeBlock(bytes);
        return isOfDay(series, key % KEY_DAYS) ? series : null;
      }),
    hours: (key: number, bytes: Uint8Array): Hours | null => read('hours', key, () => decodeHours(bytes)),
    day: (key: number, bytes: Uint8Array): Summary | null => read('day', key, () => decodeDay(bytes)),
    /** The packed samples of an entry of the journal, without those that are none. */
    journal(seq: number, bytes: Uint8Array): Float64Array {
      const whole = bytes.length - (bytes.length % (STRIDE * Float64Array.BYTES_PER_ELEMENT));
      const packed = new Float64Array(bytes.slice(0, whole).buffer);
      let length = 0;
      for (let at = 0; at < packed.length; at += STRIDE) {
        if (!isSample(packed, at)) continue;
        packed.copyWithin(length, at, at + STRIDE);
        length += STRIDE;
      }
      if (length < packed.length || whole < bytes.length) note(`journal ${seq}`);
      return packed.subarray(0, length);
    },
    /** Days, and entries of the journal, of which something could not be read since the start. */
    get damaged(): number {
      return damaged;
    },
  };
}

/** Times are stored as differences, so a wrong one moves all that follow. */
function isOfDay({ times }: Series, day: number): boolean {
  const [first = Number.NaN, last = Number.NaN] = [times[0], times.at(-1)];
  return first >= day * DAY_MS && last < (day + 1) * DAY_MS;
}

function isSample(packed: Float64Array, at: number): boolean {
  const time = packed[at + 1] ?? -1;
  return (
    isWhole(packed[at], MAX_SERIES) &&
    time >= 0 &&
    time < KEY_DAYS * DAY_MS &&
    isWhole(packed[at + 2], MAX_OUTCOME)
  );
}

function isWhole(value: number | undefined, limit: number): boolean {
  return value !== undefined && Number.isInteger(value) && value >= 0 && value < limit;
}
