/** Shared parts of the simulated formats: documents, times, markup and identifiers. */
import { createHash } from 'node:crypto';
import type { ToldUpdate, Vendor, VendorState } from './script.ts';

/** A document of a page. */
export interface VendorDocument {
  readonly contentType: string;
  readonly body: Buffer;
}

/**
 * Writes the documents of a page, by path. Times of `state` and `now` are epoch milliseconds; `baseUrl` is the URL of the
 * page without a slash at the end.
 */
export type Render = (
  vendor: Vendor,
  state: VendorState,
  now: number,
  baseUrl: string,
) => Map<string, VendorDocument>;

/** A JSON document in UTF-8. */
export function jsonDocument(content: unknown): VendorDocument {
  return { contentType: 'application/json; charset=utf-8', body: Buffer.from(JSON.stringify(content)) };
}

/** ISO 8601 UTC with milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** ISO 8601 with an offset in place of `Z`, in whole seconds. */
export function offsetTime(at: number, offsetHours: number): string {
  const shifted = new Date(at + offsetHours * 3_600_000).toISOString().slice(0, 19);
  const hours = String(Math.abs(offsetHours)).padStart(2, '0');
  return `${shifted}${offsetHours < 0 ? '-' : '+'}${hours}:00`;
}

/** RFC 822, as in RSS: `Sun, 20 Sep 2026 10:00:00 GMT`, or with another name of the zone. */
export function rfc822Time(at: number, zone = 'GMT'): string {
  return new Date(at).toUTCString().replace('GMT', zone);
}

/** A text in HTML as vendors' editors write it, with paragraphs, emphasis, entities, and a script that must not run. */
export function asHtml(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  const words = `<strong>${escapeMarkup(first)}</strong> ${escapeMarkup(rest.join(' '))}`;
  return `<p>${words}</p><img src="x" onerror="alert('vendor')"/>`;
}

/** A text in Markdown as vendors' editors write it. */
export function asMarkdown(text: string): string {
  const [first = '', ...rest] = text.split(' ');
  return `**${first}** ${rest.join(' ')}`;
}

/** Escapes markup in HTML and XML. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A stable identifier in lower-case hexadecimal digits. */
export function stableId(...parts: readonly (string | number)[]): string {
  return createHash('sha1').update(parts.join('\n')).digest('hex').slice(0, 12);
}

/** The newest update of an incident. */
export function newestOf(updates: readonly ToldUpdate[]): ToldUpdate {
  const newest = updates.at(-1);
  if (newest === undefined) throw new Error('an incident without an update is not published');
  return newest;
}
