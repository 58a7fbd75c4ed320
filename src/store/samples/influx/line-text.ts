/** Text in InfluxDB's line protocol. A line never holds a line break: the spool keeps them as lines. */
import type { ServiceLabels } from './influx-settings.ts';

/** Longest text of a field, UTF-16 units; InfluxDB takes 64 KiB. */
const MAX_TEXT_LENGTH = 2_000;

/** The tags that name a service, in the order of their names, as the server wants them for speed. */
export function serviceTags({ serviceId, slug, category }: ServiceLabels): string {
  return `category=${escapeTag(category)},service=${escapeTag(slug)},service_id=${serviceId}`;
}

/** A tag's value, never empty. */
export function escapeTag(value: string): string {
  // A backslash at the end would take the comma behind it along; the protocol has no escape for it.
  const plain = oneLine(value).replaceAll('\\', '/').trim();
  return plain === '' ? '-' : plain.replaceAll(/([,= ])/g, '\\$1');
}

/** A field that is text, with its quotes. */
export function quoteText(value: string): string {
  const text = oneLine(value).slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return `"${text.replaceAll(/(["\\])/g, '\\$1')}"`;
}

/** A number as a float field with at most three decimals. */
export function floatText(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}

function oneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}
