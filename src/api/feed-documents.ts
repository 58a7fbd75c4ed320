/** Feeds as documents: Atom (RFC 4287) and JSON Feed 1.1 (<https://www.jsonfeed.org/version/1.1/>). */

import { listOf, namedObject } from '../http/schema.ts';
import type { TSchema } from '../json-schema.ts';
import { Type } from '../json-schema.ts';

/** One entry of a feed. */
export interface FeedEntry {
  /** A permanent IRI, such as `tag:status.example.com,2026:incident/1` (RFC 4151). */
  readonly id: string;
  readonly title: string;
  /** The page of the entry alone. */
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

export interface Feed {
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
  readonly entries: readonly FeedEntry[];
}

/** A form of feeds. */
export interface FeedFormat {
  /** The ending of its addresses. */
  readonly ending: 'atom' | 'json';
  readonly mediaType: string;
  readonly name: string;
  /** The specification that it follows. */
  readonly source: string;
  readonly schema: TSchema;
  /** Throws RangeError if a time is not valid. */
  readonly write: (feed: Feed) => string;
}

const JsonFeedSchema = namedObject('JsonFeed', {
  version: Type.Literal('https://jsonfeed.org/version/1.1'),
  title: Type.String(),
  home_page_url: Type.String({ description: 'The page of the feed.' }),
  feed_url: Type.String({ description: 'The address of this document.' }),
  authors: listOf('The name of the feed.', { name: Type.String() }),
  items: listOf('At most 50.', {
    id: Type.String({ description: 'It never changes.' }),
    url: Type.String({ description: 'The page of the item.' }),
    title: Type.String(),
    content_text: Type.String({ description: 'Plain text with line breaks.' }),
    date_published: Type.String({ format: 'date-time' }),
    date_modified: Type.String({ format: 'date-time' }),
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Such as a status.' })),
  }),
});

export const FEED_FORMATS: readonly FeedFormat[] = [
  {
    ending: 'atom',
    mediaType: 'application/atom+xml',
    name: 'an Atom feed',
    source: 'RFC 4287',
    schema: Type.String(),
    write: writeAtom,
  },
  {
    ending: 'json',
    mediaType: 'application/feed+json',
    name: 'a JSON Feed',
    source: 'JSON Feed 1.1',
    schema: JsonFeedSchema,
    write: writeJsonFeed,
  },
];

/** Writes a JSON Feed. Characters that have no UTF-8 are replaced. Throws RangeError if a time is not valid. */
export function writeJsonFeed({ title, selfUrl, pageUrl, entries }: Feed): string {
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title,
    home_page_url: pageUrl,
    feed_url: selfUrl,
    authors: [{ name: title }],
    items: entries.map(({ id, url, title, text, publishedAt, updatedAt, category }) => ({
      id,
      url,
      title,
      content_text: text,
      date_published: new Date(publishedAt).toISOString(),
      date_modified: new Date(updatedAt).toISOString(),
      ...(category === undefined ? {} : { tags: [category] }),
    })),
  };
  return JSON.stringify(feed, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value));
}

/**
 * Writes an XML document in UTF-8. Escapes all texts, and removes characters that XML 1.0 does not allow. Throws RangeError
 * if a time is not valid.
 */
export function writeAtom({ id, title, selfUrl, pageUrl, updatedAt, entries }: Feed): string {
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

function writeEntry({ id, title, url, publishedAt, updatedAt, text, category }: FeedEntry): string {
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
