/** Reads how long a server asks to be left alone (RFC 9110, 10.2.3). */
import { HOUR_MS } from '../domain/durations.ts';

/** Longest wait that is granted (decisions, "What a check is"). */
export const MAX_RETRY_AFTER_MS = HOUR_MS;

/** Milliseconds from now, 0 to an hour, from whole seconds or an HTTP date; null: nothing that can be read. */
export function readRetryAfter(value: string | readonly string[] | undefined, now: number): number | null {
  const text = (typeof value === 'string' ? value : value?.[0])?.trim();
  if (text === undefined || text === '') return null;
  if (/^\d+$/.test(text)) return Math.min(MAX_RETRY_AFTER_MS, Number(text) * 1000);
  // A date has letters; without this test Date.parse would read `-5` and `1.5` as years.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, at - now));
}
