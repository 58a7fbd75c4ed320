/** Reads documents with a kind as the poller would, from fixtures or from what a test writes. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import type { FeedEntry } from '../../../src/domain/incident/feed-entry.ts';
import { type FeedReading, readFeedDocument } from '../../../src/feeds/build-entry.ts';
import type { FeedKind, FeedSource } from '../../../src/feeds/feed-kind.ts';
import { SAMPLE_FEED_URLS } from '../../support/feed-urls.ts';

/** Sunday, 20 September 2026, noon. */
export const NOW = Date.UTC(2026, 8, 20, 12);

/** Epoch milliseconds of a time on that day in UTC, such as `09:55`, or of a whole ISO time. */
export function at(time: string): number {
  return Date.parse(time.length === 5 ? `2026-09-20T${time}:00Z` : time);
}

/** The page of the tests. */
export const PAGE: FeedSource = { pageUrl: 'https://status.example.com', feedUrl: null };

/** A recorded document, as its bytes. */
export function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/${name}.json`, import.meta.url));
}

/** What the kind makes of one of its documents: bytes and text as they are, anything else as JSON. */
export function readDocument(
  kind: FeedKind,
  name: string,
  content: unknown,
  source: FeedSource = PAGE,
  now = NOW,
): FeedReading {
  const address = kind.addresses(source).find((one) => one.name === name);
  if (address === undefined) throw new Error(`the kind has no document ${name}`);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const body = content instanceof Uint8Array ? content : Buffer.from(text);
  return readFeedDocument(address, body, now);
}

/** What the kind makes of several documents that are read with each other: the entries of all, by the order of its documents. */
export function readDocuments(
  kind: FeedKind,
  contents: Readonly<Record<string, unknown>>,
  source: FeedSource = PAGE,
  now = NOW,
): FeedEntry[] {
  return kind.addresses(source).flatMap((address) => {
    const content = contents[address.name];
    if (content === undefined) return [];
    const body = content instanceof Uint8Array ? content : Buffer.from(JSON.stringify(content));
    return readFeedDocument(address, body, now).entries;
  });
}

/** The page of the tests with the feed URL that a kind of this name needs. */
export const sourceOf = (kind: string): FeedSource => ({ ...PAGE, feedUrl: SAMPLE_FEED_URLS[kind] ?? null });

/** The entries of all fixtures of a kind. */
export const readAll = (kind: FeedKind, name: string, documents: readonly string[]): FeedEntry[] =>
  readDocuments(
    kind,
    Object.fromEntries(documents.map((document) => [document, fixture(`${name}-${document}`)])),
    sourceOf(name),
  );

/** The URLs that a kind asks for a page. */
export const urlsOf = (kind: FeedKind, pageUrl: string, feedUrl: string | null = null): string[] =>
  kind.addresses({ pageUrl, feedUrl }).map(({ url }) => url);

/** Tests that a kind refuses others' documents, and what nobody writes, in place of each of its own. */
export function refusesOthers(
  t: Test,
  kind: FeedKind,
  { source = PAGE, others = [] }: { source?: FeedSource; others?: readonly unknown[] } = {},
): void {
  for (const { name } of kind.addresses(source))
    for (const document of [...others, ...WRONG_DOCUMENTS.map(([wrong]) => wrong)])
      t.throws(
        () => readDocument(kind, name, document, source),
        { name: 'FeedFormatError', code: 'feed_format' },
        `${name} ${JSON.stringify(document).slice(0, 40)}`,
      );
}

/** The entries without updates: for tables that are about something else. */
export function withoutUpdates(entries: readonly FeedEntry[]): object[] {
  return entries.map(({ updates, ...entry }) => entry);
}

/** Documents that no JSON kind may take for its own, with the message that each must get. */
export const WRONG_DOCUMENTS: readonly (readonly [unknown, RegExp])[] = [
  ['', /empty/],
  ['<!doctype html><html><body>Loading…</body></html>', /page for people/],
  ['\n\n <html lang="en"><title>Statuspage by Atlassian</title></html>', /page for people/],
  ['Your page is inactive. Contact support.', /inactive/],
  ['{"incidents": [', /not JSON/],
  ['[1, 2', /not JSON/],
  ['['.repeat(100_000) + ']'.repeat(100_000), /nested/],
  [Buffer.from([0xff, 0xfe]), /empty/],
  ['"text"', /not an object|not a list/],
  ['null', /not an object|not a list/],
  ['42', /not an object|not a list/],
];
