/**
 * Uptime Kuma: `/api/status-page/<slug>`, names of monitors, the pinned incidents and maintenance, and
 * `/api/status-page/heartbeat/<slug>`, the heartbeats of monitors. The slug is that of a page `/status/<slug>`; a page at a
 * custom domain needs a feed URL, the first address.
 */
import type { FeedEntry, FeedIncident, FeedMaintenance } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  numberAt,
  objectAt,
  objectsAt,
  objectsOf,
  readJsonObject,
  requireObjects,
  textAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainMarkdown, plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

/** Of pinned incidents; those of other styles are news. */
const SEVERITIES = { warning: 'minor', danger: 'major' } as const;

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  scheduled: 'planned',
  under_maintenance: 'running',
  ended: 'done',
};

const MAX_NAME_LENGTH = 100;

/** Reads Uptime Kuma. */
export const uptimekuma: FeedKind = {
  addresses(source) {
    const { pageUrl } = source;
    const [base, slug] = pageOf(source);
    let entries: (FeedEntry | null)[] = [];
    let names: ReadonlyMap<string, readonly string[]> = new Map();
    return [
      {
        name: 'page',
        url: `${base}/api/status-page/${slug}`,
        listsOnlyOpen: true,
        isReference: true,
        read(body, now) {
          const top = readJsonObject(body);
          names = namesIn(requireObjects(top, 'publicGroupList'));
          const incidents = [objectAt(top, 'incident'), ...objectsAt(top, 'incidents')];
          entries = [
            ...objectsOf(incidents).map((incident) => readIncident(incident, pageUrl)),
            ...objectsAt(top, 'maintenanceList').map((item) => readMaintenance(item, pageUrl, now)),
          ];
          return [];
        },
      },
      {
        name: 'heartbeats',
        url: `${base}/api/status-page/heartbeat/${slug}`,
        listsOnlyOpen: true,
        read(body, now) {
          const list = objectAt(readJsonObject(body), 'heartbeatList');
          if (list === null) throw new FeedFormatError('the document has no heartbeats');
          const parts = Object.keys(list).map((id) => ({
            id,
            names: [...(names.get(id) ?? []), id],
            severity: isDown(objectsAt(list, id)) ? ('major' as const) : null,
          }));
          return [
            ...unreportedOutages({ pageUrl, parts, pageSeverity: null, title: null }, entries, now),
            ...entries,
          ];
        },
      },
    ];
  },
};

/** Base and slug. Throws {@link FeedFormatError} if neither address has the slug. */
function pageOf({ pageUrl, feedUrl }: FeedSource): readonly [base: string, slug: string] {
  const { origin, pathname } = new URL(feedUrl ?? pageUrl);
  const [, path, slug] =
    /^((?:\/[\w.-]+){0,5}?)\/(?:status|api\/status-page(?:\/heartbeat)?)\/([\w-]{1,100})\/?$/.exec(
      pathname,
    ) ?? [];
  if (path === undefined || slug === undefined)
    throw new FeedFormatError('a page of Uptime Kuma needs a feedUrl with its slug');
  return [`${origin}${path}`, slug];
}

/** Names of monitors and of their groups, by the identifiers of the monitors. */
function namesIn(groups: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  return new Map(
    groups.flatMap((group) =>
      objectsAt(group, 'monitorList').map((monitor) => [
        textAt(monitor, 'id'),
        [textAt(monitor, 'name'), textAt(group, 'name')].map((name) => name.slice(0, MAX_NAME_LENGTH)),
      ]),
    ),
  );
}

/** The newest heartbeat counts; 0 is down, 1 up, 2 pending, 3 maintenance. */
function isDown(beats: readonly JsonObject[]): boolean {
  let newest: JsonObject | undefined;
  for (const beat of beats)
    if (newest === undefined || (timeAt(beat, 'time') ?? 0) >= (timeAt(newest, 'time') ?? 0)) newest = beat;
  return numberAt(newest, 'status') === 0;
}

/** Null: it has no identifier, or is news. */
function readIncident(incident: JsonObject, pageUrl: string): FeedIncident | null {
  const key = textAt(incident, 'id');
  const severity = lookUp(SEVERITIES, wordAt(incident, 'style'));
  if (key === '' || severity === null) return null;
  const startedAt = timeAt(incident, 'createdDate');
  const at = timeAt(incident, 'lastUpdatedDate') ?? startedAt;
  const text = plainText(plainMarkdown(textAt(incident, 'content')));
  return buildIncident({
    key: `incident ${key}`,
    ...(startedAt === null ? {} : { continues: STATE_KEYS }),
    title: textAt(incident, 'title'),
    sourceUrl: pageUrl,
    components: [],
    updates: at === null ? [] : [{ at, status: 'investigating', text }],
    severity,
    status: 'investigating',
    startedAt,
    resolvedAt: null,
  });
}

/** The window that runs or comes next. Null: it has no identifier or no window, or is not active. */
function readMaintenance(item: JsonObject, pageUrl: string, now: number): FeedMaintenance | null {
  const key = textAt(item, 'id');
  const state = lookUp(STATES, wordAt(item, 'status'));
  const offset = textAt(item, 'timezoneOffset');
  const windows = objectsAt(item, 'timeslotList').flatMap((slot) => {
    const startsAt = timeIn(textAt(slot, 'startDate'), offset);
    return startsAt === null ? [] : [{ startsAt, endsAt: timeIn(textAt(slot, 'endDate'), offset) }];
  });
  const window = windows.find(({ endsAt }) => endsAt === null || endsAt > now) ?? windows.at(-1);
  if (key === '' || state === null || window === undefined) return null;
  return buildMaintenance({
    key: `maintenance ${key} ${new Date(window.startsAt).toISOString()}`,
    title: textAt(item, 'title'),
    sourceUrl: pageUrl,
    components: [],
    updates: [],
    ...window,
    state,
  });
}

/** A time without a zone is on the wall of the maintenance's. */
function timeIn(text: string, offset: string): number | null {
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/.test(text.slice(-10));
  return readTime(hasZone || !/^[+-]\d\d:\d\d$/.test(offset) ? text : `${text}${offset}`);
}
