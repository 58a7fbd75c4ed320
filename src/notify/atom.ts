/** Writing of Atom feeds (RFC 4287) of incidents. */

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
  /** Epoch milliseconds; readers take an entry for changed by it alone. */
  readonly updatedAt: number;
  /** Plain text; line ends are kept. */
  readonly text: string;
  /** A word for readers to sort by, such as a status. */
  readonly category?: string;
}

/** A feed. */
export interface AtomFeed {
  /** As of an entry. */
  readonly id: string;
  /** Also the name of the author, which a feed must have. */
  readonly title: string;
  /** Where this document is. */
  readonly selfUrl: string;
  /** The page that it tells of. */
  readonly pageUrl: string;
  /** Epoch milliseconds. */
  readonly updatedAt: number;
  /** In the order in which they are written; no two with the same id. */
  readonly entries: readonly AtomEntry[];
}

/**
 * The feed as an XML document in UTF-8. All texts are escaped; characters that XML 1.0 does not have are left out, so
 * that no text can break the document. Throws RangeError for a time that is none.
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
  // Else a reader would turn it into a line end, or into a space in an attribute.
  '\r': '&#13;',
};

/** For text and attributes alike. */
function escapeXml(text: string): string {
  return (
    text
      .toWellFormed()
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML 1.0 (2.2) has no such characters
      .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, '')
      .replace(/[&<>"'\r]/g, (sign) => ESCAPES[sign] ?? '')
  );
}
