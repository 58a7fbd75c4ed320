/**
 * UptimeRobot's public pages: `/api/getMonitorList/<key>`, the states of monitors (the first page of them), and
 * `/api/getEventFeed/<key>`, what people write. The key is the path of a page of stats.uptimerobot.com; the feed URL of
 * other pages is that of their list of monitors.
 */
import type { FeedIncident } from '../../domain/incident/feed-entry.ts';
import { buildIncident, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource, originOf } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectAt,
  objectsOf,
  readJsonObject,
  requireObjects,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { boundText, plainText } from '../plain-text.ts';
import { readMonthFirst } from '../read-time.ts';

const SEVERITIES = { danger: 'major', warning: 'minor' } as const;

/** Reads UptimeRobot's pages. */
export const uptimerobot: FeedKind = {
  addresses(source) {
    const [origin, key] = pageOf(source);
    let events: (FeedIncident | null)[] = [];
    return [
      {
        name: 'events',
        url: `${origin}/api/getEventFeed/${key}`,
        listsOnlyOpen: true,
        isOptional: true,
        isReference: true,
        read(body) {
          const list = requireObjects(readJsonObject(body), 'results');
          events = list.map((event) => readEvent(event, source.pageUrl));
          return [];
        },
      },
      {
        name: 'monitors',
        url: `${origin}/api/getMonitorList/${key}`,
        listsOnlyOpen: true,
        read(body, now) {
          const parts = requireMonitors(body).map((monitor) => ({
            id: textAt(monitor, 'monitorId'),
            names: textsAt(monitor, 'name', 'monitorId'),
            severity: lookUp(SEVERITIES, wordAt(monitor, 'statusClass')),
          }));
          const states = { pageUrl: source.pageUrl, parts, pageSeverity: null, title: null };
          return [...unreportedOutages(states, events, now), ...events];
        },
      },
    ];
  },
};

/** Host and key. Throws {@link FeedFormatError} if neither address has the key. */
function pageOf({ pageUrl, feedUrl }: FeedSource): readonly [origin: string, key: string] {
  const key = /\/api\/get(?:MonitorList|EventFeed)\/([\w-]{1,100})/.exec(feedUrl ?? '')?.[1];
  if (feedUrl !== null && key !== undefined) return [originOf(feedUrl), key];
  const { hostname, pathname, origin } = new URL(pageUrl);
  const own = /^\/([\w-]{1,100})(?:\/|$)/.exec(pathname)?.[1];
  if (hostname === 'stats.uptimerobot.com' && own !== undefined) return [origin, own];
  throw new FeedFormatError('a page of UptimeRobot needs a feedUrl, that of its list of monitors');
}

/** Older pages list them in `psp`. */
function requireMonitors(body: Uint8Array): JsonObject[] {
  const top = readJsonObject(body);
  const list = member(top, 'data') ?? member(objectAt(top, 'psp'), 'monitors');
  if (!Array.isArray(list)) throw new FeedFormatError('the document has no list of monitors');
  return objectsOf(list);
}

/** Null: it has no start, is news of a monitor, or is an announcement that warns of nothing. */
function readEvent(event: JsonObject, pageUrl: string): FeedIncident | null {
  const startedAt = timeAt(event, 'timestamp');
  const warns = wordAt(event, 'type') === 'incident' || wordAt(event, 'icon').startsWith('alert');
  const key = textAt(event, 'id') || (startedAt === null ? '' : `event ${startedAt}`);
  if (!warns || startedAt === null) return null;
  const end = textAt(event, 'endDateGMT') || textAt(event, 'endDate');
  const status = end === '' ? 'investigating' : 'resolved';
  const text = boundText(plainText(textAt(event, 'content') || textAt(event, 'description')));
  return buildIncident({
    key,
    continues: STATE_KEYS,
    title: textAt(event, 'title'),
    sourceUrl: pageUrl,
    components: [],
    updates: text === '' ? [] : [{ at: startedAt, status: 'investigating', text }],
    severity: 'minor',
    status,
    startedAt,
    resolvedAt: readMonthFirst(end),
  });
}
