/** Recorded documents of vendors with the entries that a reader of their page would name. */

import { readFileSync } from 'node:fs';
import type { FeedEntry } from '../../../src/domain/incident/feed-entry.ts';
import { readFeedDocument } from '../../../src/feeds/build-entry.ts';
import { FEED_KINDS } from '../../../src/feeds/kinds-table.ts';

/** Characters of an update that a recording tells. */
const TOLD_CHARACTERS = 40;

/** A time in ISO 8601, its status and the first 40 characters of its text. */
type ToldUpdate = readonly [at: string, status: string, text: string];

/** An entry as a recording tells it: times are ISO 8601. */
export interface ToldEntry {
  readonly kind: 'incident' | 'maintenance';
  readonly key: string;
  readonly title: string;
  readonly sourceUrl: string;
  readonly components: readonly string[] | null;
  readonly severity?: string;
  /** Of an incident its status, of a maintenance its state. */
  readonly state: string;
  readonly from: string | null;
  readonly to: string | null;
  readonly updates: readonly ToldUpdate[];
}

/** A document, who wrote it, when it was read, and what it says. */
export interface Recording {
  /** Name of the file; `fixtures/recorded/README.md` tells its origin. */
  readonly file: string;
  readonly kind: keyof typeof FEED_KINDS;
  /** Name of the document among those of the kind. */
  readonly document: string;
  readonly vendor: string;
  readonly pageUrl: string;
  readonly feedUrl?: string;
  readonly now: string;
  readonly entries: readonly ToldEntry[];
}

const FOLDER = new URL('../fixtures/recorded/', import.meta.url);

/** What the kind makes of a recording. */
export function readRecording({ file, kind, document, pageUrl, feedUrl, now }: Recording): ToldEntry[] {
  const address = FEED_KINDS[kind]
    .addresses({ pageUrl, feedUrl: feedUrl ?? null })
    .find(({ name }) => name === document);
  if (address === undefined) throw new Error(`${kind} has no document ${document}`);
  const body = readFileSync(new URL(file, FOLDER));
  return readFeedDocument(address, body, Date.parse(now)).entries.map(tell);
}

function tell(entry: FeedEntry): ToldEntry {
  const { key, title, sourceUrl, components } = entry;
  const updates = entry.updates.map(
    ({ at, status, text }): ToldUpdate => [isoOf(at) ?? '', status, text.slice(0, TOLD_CHARACTERS)],
  );
  const base = { key, title, sourceUrl, components, updates };
  if (entry.kind === 'maintenance') {
    const { kind, state, startsAt, endsAt } = entry;
    return { ...base, kind, state, from: isoOf(startsAt), to: isoOf(endsAt) };
  }
  const { kind, severity, status, startedAt, resolvedAt } = entry;
  return { ...base, kind, severity, state: status, from: isoOf(startedAt), to: isoOf(resolvedAt) };
}

function isoOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString().replace('.000Z', 'Z');
}
