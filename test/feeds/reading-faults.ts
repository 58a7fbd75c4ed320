/** What every reader promises of what it gives. */
import type { FeedEntry } from '../../src/domain/incident/feed-entry.ts';
import { INCIDENT_STATUSES } from '../../src/domain/incident/incident.ts';
import type { FeedReading } from '../../src/feeds/build-entry.ts';

/** What a browser would take for markup. */
const MARKUP = /<[A-Za-z/!?]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const FORBIDDEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff]/;

/** What is wrong with a reading made at `now` (epoch milliseconds), by the docstrings of its types; empty: nothing. */
export function faultsOf({ entries, listsOnlyOpen }: FeedReading, now: number): string[] {
  const starts = entries.map((entry) =>
    entry.kind === 'incident' ? (entry.startedAt ?? now) : entry.startsAt,
  );
  const checks: Readonly<Record<string, boolean>> = {
    'listsOnlyOpen is a boolean': typeof listsOnlyOpen === 'boolean',
    'there are at most 2,000 entries': entries.length <= 2_000,
    'no two entries have the same key': new Set(entries.map(({ key }) => key)).size === entries.length,
    'newest first': starts.every((start, index) => index === 0 || start <= (starts[index - 1] ?? 0)),
    'none is older than 400 days': starts.every((start) => start >= now - 400 * 86_400_000),
  };
  return [...failing(checks), ...entries.flatMap(faultsOfEntry)];
}

function faultsOfEntry(entry: FeedEntry): string[] {
  const { key, title, sourceUrl, components, updates } = entry;
  const link = URL.parse(sourceUrl);
  const texts = [key, title, sourceUrl, ...(components ?? []), ...updates.map(({ text }) => text)];
  const own =
    entry.kind === 'incident'
      ? {
          severity: ['minor', 'major', 'critical'].includes(entry.severity),
          status: INCIDENT_STATUSES.includes(entry.status),
          startedAt: entry.startedAt === null || isTime(entry.startedAt),
          resolvedAt: entry.resolvedAt === null || (isTime(entry.resolvedAt) && entry.status === 'resolved'),
        }
      : {
          startsAt: isTime(entry.startsAt),
          endsAt: entry.endsAt === null || isTime(entry.endsAt),
          state: ['planned', 'running', 'done'].includes(entry.state),
        };
  const checks: Readonly<Record<string, boolean>> = {
    ...own,
    key: key.length >= 1 && key.length <= 300,
    title: title.length >= 1 && title.length <= 300 && !/[\n\t]|^\s|\s$/.test(title),
    sourceUrl: (link?.protocol === 'https:' || link?.protocol === 'http:') && link.username === '',
    components: components === null || (components.length > 0 && components.every((name) => name !== '')),
    'count of updates': updates.length <= 100,
    'order of updates': updates.every(({ at }, index) => index === 0 || at >= (updates[index - 1]?.at ?? 0)),
    'times of updates': updates.every(({ at }) => isTime(at)),
    'statuses of updates': updates.every(({ status }) => INCIDENT_STATUSES.includes(status)),
    'length of texts': updates.every(({ text }) => text.length <= 10_000),
    'no markup': !texts.some((text) => MARKUP.test(text)),
    'no controls': !texts.some((text) => FORBIDDEN.test(text)),
    'whole characters': texts.every((text) => text.isWellFormed()),
  };
  return failing(checks).map((fault) => `${fault} of ${JSON.stringify(entry).slice(0, 400)}`);
}

function failing(checks: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(checks).flatMap(([name, holds]) => (holds ? [] : [name]));
}

function isTime(at: number): boolean {
  return Number.isInteger(at) && at >= Date.UTC(2000, 0) && at < Date.UTC(2101, 0);
}
