/** Times as other programs write them: ISO 8601 in the profile of RFC 3339, always with its offset from UTC. */

const FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,30}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/**
 * Reads `2026-11-20T10:00:00.000Z`, with or without a fraction, or with `+00:00` or another offset in place of the `Z`;
 * null: not such a time, or one that no calendar has. Epoch milliseconds; a finer fraction is cut off.
 */
export function readTime(text: string): number | null {
  const match = FORM.exec(text);
  if (match === null) return null;
  const part = (index: number): number => Number(match[index] ?? 0);
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const offsetMinutes = part(9) * 60 + part(10);
  if (hour > 23 || minute > 59 || second > 59 || part(9) > 23 || part(10) > 59) return null;
  const date = new Date(0);
  // `Date.UTC` would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const local = date.setUTCHours(hour, minute, second, milliseconds);
  return local - (match[8] === '-' ? -1 : 1) * offsetMinutes * 60_000;
}
