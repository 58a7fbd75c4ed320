/** Writes Atom feeds (RFC 4287) of incidents. */

/** Media type of what {@link writeAtom} writes. */
export const ATOM_MEDIA_TYPE = 'application/atom+xml; charset=utf-8';

/** One entry of a feed. */
export interface AtomEntry {
  /** A permanent IRI, such as `tag:status.example.com,2026:incident/1` (RFC 4151). */
  readonly id: string;
  readonly title: string;
  /** The page of the entry. */
  readonly url: string;
  /** Epoch milliseconds. */
  readonly publishedAt: number;
  /** Epoch milliseconds; readers detect changes by it alone. */
  readonly updatedAt: number;
  /** Plain text with line breaks. */
  readonly text: string;
  /** For example a status. */
  readonly category?: string;
}

export interface AtomFeed {
  readonly id: string;
  /** Also the name of the author, which a feed must have. */
  readonly title: string;
  /** URL of the document. */
  readonly selfUrl: string;
  /** The page of the feed. */
  readonly pageUrl: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** Ids are unique. */
  readonly entries: readonly AtomEntry[];
}

/**
 * Writes an XML document in UTF-8. Escapes all texts, and removes characters that XML 1.0 does not allow. Throws RangeError
 * if a time is not valid.
 */
export function writeAtom({ id, title, selfUrl, pageUrl, updatedAt, entries }: AtomFeed): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('id', id),
    element('title', title),
    `<link rel="self" type="application/atom+xml" href="${escapeXml(selfUrl)}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(pageUrl)}"/>`,
    element('updated', new Date(updatedAt).toISOString()),
    `<author>${element('name', title)}</author>`,
    ...entries.map(writeEntry),
    '</feed>',
    '',
  ].join('\n');
}

function writeEntry({ id, title, url, publishedAt, updatedAt, text, category }: AtomEntry): string {
  return [
    '<entry>',
    element('id', id),
    element('title', title),
    `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`,
    element('published', new Date(publishedAt).toISOString()),
    element('updated', new Date(updatedAt).toISOString()),
    ...(category === undefined ? [] : [`<category term="${escapeXml(category)}"/>`]),
    `<content type="text">${escapeXml(text)}</content>`,
    '</entry>',
  ].join('\n');
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  // Unescaped, parsers replace it by a line feed, or by a space in an attribute.
  '\r': '&#13;',
};

/** For text and attributes. */
function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 (2.2) has no such characters
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
      .replace(/[&<>"'\r]/g, (sign) => ESCAPES[sign] ?? '')
  );
}
