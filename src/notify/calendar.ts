/** Writes calendars (iCalendar, RFC 5545) of maintenance. Times are in UTC, so that no time zone has to be described. */
import { formatStamp } from '../domain/incident/recurrence.ts';

/** Media type of what {@link writeCalendar} writes. */
export const CALENDAR_MEDIA_TYPE = 'text/calendar; charset=utf-8';

export interface CalendarEvent {
  /** Permanent and unique, such as `m3-1792137600@status.example.com`. */
  readonly uid: string;
  /** Grows with each change of the event, from 0. */
  readonly sequence: number;
  readonly title: string;
  /** Plain text with line breaks. */
  readonly text: string;
  readonly url: string;
  /** Epoch milliseconds. */
  readonly startsAt: number;
  /** Null: not known. */
  readonly endsAt: number | null;
  /** The time at which it was last changed, epoch milliseconds. */
  readonly updatedAt: number;
  /** It does not take place. */
  readonly isCancelled: boolean;
}

/** Lines have at most this many bytes, without their end (RFC 5545, 3.1). */
const MAX_LINE_BYTES = 75;

/** Writes a calendar. `name` is shown by readers. */
export function writeCalendar(name: string, events: readonly CalendarEvent[]): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Upbeat//Maintenance//EN',
    'CALSCALE:GREGORIAN',
    'METHOD:PUBLISH',
    `NAME:${escapeText(name)}`,
    `X-WR-CALNAME:${escapeText(name)}`,
    'REFRESH-INTERVAL;VALUE=DURATION:PT1H',
    'X-PUBLISHED-TTL:PT1H',
    ...events.flatMap(eventLines),
    'END:VCALENDAR',
  ];
  return lines.map((line) => `${fold(line)}\r\n`).join('');
}

function eventLines(event: CalendarEvent): string[] {
  const { uid, sequence, title, text, url, startsAt, endsAt, updatedAt, isCancelled } = event;
  return [
    'BEGIN:VEVENT',
    `UID:${escapeText(uid)}`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:${formatStamp(updatedAt)}`,
    `LAST-MODIFIED:${formatStamp(updatedAt)}`,
    `DTSTART:${formatStamp(startsAt)}`,
    ...(endsAt === null ? [] : [`DTEND:${formatStamp(endsAt)}`]),
    `SUMMARY:${escapeText(title)}`,
    ...(text === '' ? [] : [`DESCRIPTION:${escapeText(text)}`]),
    `URL:${new URL(url).href}`,
    `STATUS:${isCancelled ? 'CANCELLED' : 'CONFIRMED'}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ];
}

/** Escapes a text (RFC 5545, 3.3.11). Other control characters are not allowed at all. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n');
}

/** Breaks a line into parts of at most 75 bytes, never within a character. */
function fold(line: string): string {
  const parts: string[] = [];
  let part = '';
  let bytes = 0;
  for (const character of line) {
    const length = Buffer.byteLength(character);
    if (bytes + length > MAX_LINE_BYTES) {
      parts.push(part);
      part = ' ';
      bytes = 1;
    }
    part += character;
    bytes += length;
  }
  parts.push(part);
  return parts.join('\r\n');
}
