/**
 * Nintendo: `/netinfo/en_US/status.json`, outages and maintenances with their windows in Pacific time, in JSON or as the argument of a
 * call.
 */
import type { FeedEntry } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance } from '../build-entry.ts';
import { decodeText, type FeedKind, originOf } from '../feed-kind.ts';
import { type JsonObject, readJsonObject, requireObjects, textAt, textListAt } from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readLocalTime, readMonthFirst } from '../read-time.ts';

/** Of `event_status`. */
const OVER = '3';

/** Reads Nintendo's network information. */
export const nintendo: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'status',
      url: feedUrl ?? `${originOf(pageUrl)}/netinfo/en_US/status.json`,
      listsOnlyOpen: true,
      read(body, now) {
        const call = /^\s*\w{1,50}\(([\s\S]*)\);?\s*$/.exec(decodeText(body));
        const top = readJsonObject(call === null ? body : Buffer.from(call[1] ?? ''));
        return [
          ...requireObjects(top, 'operational_statuses').map((item) => readOutage(item, pageUrl, now)),
          ...requireObjects(top, 'temporary_maintenances').map((item) => readMaintenance(item, pageUrl, now)),
        ];
      },
    },
  ],
};

/** Null: its start cannot be read. */
function readOutage(item: JsonObject, pageUrl: string, now: number): FeedEntry | null {
  const base = baseOf(item, pageUrl);
  if (base === null) return null;
  const { startsAt, endsAt, text, ...draft } = base;
  const status = endsAt !== null && endsAt <= now ? 'resolved' : 'investigating';
  return buildIncident({
    ...draft,
    updates:
      text === '' ? [] : [{ at: status === 'resolved' ? (endsAt ?? startsAt) : startsAt, status, text }],
    severity: 'major',
    status,
    startedAt: startsAt,
    resolvedAt: endsAt,
  });
}

/** Null: its start cannot be read. */
function readMaintenance(item: JsonObject, pageUrl: string, now: number): FeedEntry | null {
  const base = baseOf(item, pageUrl);
  if (base === null) return null;
  const { startsAt, endsAt, text, ...draft } = base;
  const isOver = textAt(item, 'event_status') === OVER;
  return buildMaintenance({
    ...draft,
    updates:
      text === '' ? [] : [{ at: Math.min(startsAt, now), status: isOver ? 'resolved' : 'identified', text }],
    startsAt,
    endsAt,
    state: isOver ? 'done' : 'planned',
  });
}

function baseOf(item: JsonObject, pageUrl: string) {
  const startsAt = timeOf(textAt(item, 'begin'));
  if (startsAt === null) return null;
  const platforms = textListAt(item, 'platform');
  const title = textAt(item, 'software_title');
  return {
    key: [new Date(startsAt).toISOString(), title, ...platforms].join(' '),
    title,
    sourceUrl: pageUrl,
    components: [...platforms, ...textListAt(item, 'services')],
    startsAt,
    endsAt: timeOf(textAt(item, 'end')),
    text: plainText([textAt(item, 'message'), textAt(item, 'free_write')].join('\n\n')),
  };
}

/** `Wednesday, February 24, 2021  6 :55 AM`, on the wall of the Pacific coast. */
function timeOf(text: string): number | null {
  const at = readMonthFirst(text.slice(0, 100).replace(/\s+/g, ' ').replace(' :', ':'));
  return at === null
    ? null
    : readLocalTime(new Date(at).toISOString().slice(0, 19).replace('T', ' '), 'US/Pacific');
}
