/** What every reading keeps to, whatever the document was. */
import type { Test } from 'tap';
import type { FeedEntry } from '../../../src/domain/incident/feed-entry.ts';
import { INCIDENT_STATUSES } from '../../../src/domain/incident/incident.ts';
import type { FeedReading } from '../../../src/feeds/build-entry.ts';

const MARKUP = /<[a-z/!?]/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
const CONTROL = /[\0-\x08\x0b-\x1f\x7f]/;
const EARLIEST = Date.UTC(2000, 0, 1);
const LATEST = Date.UTC(2100, 0, 1);

/** Fails with the first thing that is wrong with a reading at `now`. */
export function checkReading(t: Test, { entries }: FeedReading, now: number): void {
  const problem = entries.length > 2_000 ? 'too many entries' : findProblem(entries, now);
  if (problem !== null) t.fail(problem);
}

function findProblem(entries: readonly FeedEntry[], now: number): string | null {
  const keys = new Set<string>();
  let before = Number.POSITIVE_INFINITY;
  for (const entry of entries) {
    const start = entry.kind === 'incident' ? (entry.startedAt ?? now) : entry.startsAt;
    if (start > before) return 'not the newest first';
    if (keys.has(entry.key)) return `the key ${entry.key} twice`;
    keys.add(entry.key);
    before = start;
    const problem = problemOf(entry, now);
    if (problem !== null) return `${problem}: ${JSON.stringify(entry).slice(0, 1_000)}`;
  }
  return null;
}

function problemOf(entry: FeedEntry, now: number): string | null {
  const { key, title, sourceUrl, components, updates } = entry;
  const texts = [title, ...(components ?? []), ...updates.map(({ text }) => text)];
  const times = updates.map(({ at }) => at);
  if (entry.kind === 'incident') {
    const { startedAt, resolvedAt, status } = entry;
    times.push(...[startedAt, resolvedAt].filter((at) => at !== null));
    if (resolvedAt !== null && status !== 'resolved') return 'an end of what is open';
    if (startedAt !== null && startedAt < now - 400 * 86_400_000) return 'too old';
    if (!['minor', 'major', 'critical'].includes(entry.severity)) return 'no severity';
    if (!INCIDENT_STATUSES.includes(status)) return 'no status';
  } else {
    times.push(entry.startsAt, ...(entry.endsAt === null ? [] : [entry.endsAt]));
    if (!['planned', 'running', 'done'].includes(entry.state)) return 'no state';
  }
  if (key === '' || key.length > 300 || CONTROL.test(key) || !key.isWellFormed()) return 'a bad key';
  if (title === '' || title.length > 300 || title.includes('\n')) return 'a bad title';
  if (!/^https?:\/\//.test(sourceUrl) || sourceUrl.length > 2_100) return 'a bad link';
  if (components?.length === 0 || components?.includes('')) return 'bad components';
  if (updates.length > 100) return 'too many updates';
  if (updates.some(({ at }, index) => at < (updates[index - 1]?.at ?? 0))) return 'updates out of order';
  if (updates.some(({ text, status }) => text.length > 10_000 || !INCIDENT_STATUSES.includes(status)))
    return 'a bad update';
  if (times.some((at) => !Number.isInteger(at) || at < EARLIEST || at >= LATEST)) return 'a bad time';
  return texts.some((text) => MARKUP.test(text) || CONTROL.test(text)) ? 'markup' : null;
}
