/** Identifiers that tell when they were made (https://github.com/ulid/spec). */

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const TIME_DIGITS = 10;
const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

/** When a ULID was made, epoch milliseconds; null: the text is none, or of no year from 2000 to 2099. */
export function timeOfUlid(text: string): number | null {
  if (!/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text)) return null;
  let at = 0;
  for (const digit of text.slice(0, TIME_DIGITS)) at = at * DIGITS.length + DIGITS.indexOf(digit);
  return at >= EARLIEST && at < LATEST ? at : null;
}
