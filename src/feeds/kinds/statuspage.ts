/**
 * Atlassian Statuspage: `/api/v2/incidents.json` (the 50 newest, in any state), `/api/v2/scheduled-maintenances.json`, and
 * `/api/v2/summary.json` for the states of components. A feed URL is the base of the host that serves `/api/v2`, such as
 * `https://example.statuspage.io` for a page whose own host does not. And incident.io, whose documents are like these.
 */
import type {
  FeedEntry,
  FeedIncident,
  FeedMaintenance,
  FeedUpdate,
} from '../../domain/incident/feed-entry.ts';
import {
  buildIncident,
  buildMaintenance,
  COMMON_SEVERITIES,
  COMMON_STATUSES,
  STATE_KEYS,
  unreportedOutages,
  worstSeverity,
} from '../build-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectAt,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainMarkdown, plainText } from '../plain-text.ts';

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  ...COMMON_STATUSES,
  postmortem: 'resolved',
  // Maintenances, whose incident is `identified` until its end (decisions, Incidents).
  scheduled: 'identified',
  in_progress: 'identified',
  verifying: 'identified',
  completed: 'resolved',
};

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  scheduled: 'planned',
  in_progress: 'running',
  verifying: 'running',
  completed: 'done',
};

/** Of components; incident.io says `full_outage`. */
const PART_SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  degraded_performance: 'minor',
  partial_outage: 'minor',
  major_outage: 'major',
  full_outage: 'major',
};

/** From good to bad. */
const PART_STATES = Object.keys(PART_SEVERITIES);

const MAX_HOME_URL_LENGTH = 300;
const MAX_ID_LENGTH = 100;

export const statuspage: FeedKind = {
  addresses(source) {
    const base = apiBase(source);
    return [
      {
        name: 'incidents',
        url: `${base}/incidents.json`,
        listsOnlyOpen: false,
        read: (body) => readStatuspageEntries(body, 'incidents', source),
      },
      {
        name: 'scheduled-maintenances',
        url: `${base}/scheduled-maintenances.json`,
        listsOnlyOpen: false,
        read: (body) => readStatuspageEntries(body, 'scheduled_maintenances', source),
      },
      {
        // After the incidents, which may continue the outages in it.
        name: 'summary',
        url: `${base}/summary.json`,
        listsOnlyOpen: true,
        isOptional: true,
        read(body, now) {
          const incidents = readStatuspageEntries(body, 'incidents', source);
          const maintenances = readStatuspageEntries(body, 'scheduled_maintenances', source);
          // With the incidents: copies of the two documents in caches may be of different times.
          return [...incidents, ...readStates(body, source, [...incidents, ...maintenances], now)];
        },
      },
    ];
  },
};

/** The URL of `/api/v2` on the host of the feed URL, else of the page; without a slash at the end. */
function apiBase({ pageUrl, feedUrl }: FeedSource): string {
  const base = pageBase(feedUrl ?? pageUrl);
  return `${base.replace(/\/api\/v2(\/[^/]+\.json)?$/, '')}/api/v2`;
}

/** The outages that the states of a summary show while none of its `entries` says so. */
function readStates(
  body: Uint8Array,
  { pageUrl }: FeedSource,
  entries: readonly (FeedEntry | null)[],
  now: number,
): FeedIncident[] {
  const top = readJsonObject(body);
  const status = member(top, 'status');
  const pageSeverity = lookUp(COMMON_SEVERITIES, wordAt(status, 'indicator'));
  // The state of the page may be that of an incident.
  const isReported = entries.some((entry) => entry?.kind === 'incident');
  const states = {
    pageUrl,
    parts: partsOf(top, isReported ? null : pageSeverity),
    pageSeverity,
    title: isReported || pageSeverity === null ? null : textAt(status, 'description') || null,
  };
  return unreportedOutages(states, entries, now);
}

/** The components. The worst of them are at least as bad as `pageSeverity`. Groups have the states of their components. */
function partsOf(top: JsonObject, pageSeverity: FeedIncident['severity'] | null) {
  const components = objectsAt(top, 'components');
  const groups = new Map(components.map((component) => [textAt(component, 'id'), textAt(component, 'name')]));
  const parts = components.filter((component) => member(component, 'group') !== true);
  const worst = PART_STATES.findLast((state) => parts.some((part) => wordAt(part, 'status') === state));
  return parts.map((part) => {
    const groupId = textAt(part, 'group_id');
    const state = wordAt(part, 'status');
    const severity = lookUp(PART_SEVERITIES, state);
    return {
      id: textAt(part, 'id'),
      names: [...textsAt(part, 'name', 'id'), groupId, groups.get(groupId) ?? ''],
      severity:
        severity === null || pageSeverity === null || state !== worst
          ? severity
          : worstSeverity([severity, pageSeverity]),
    };
  });
}

type ListName = 'incidents' | 'scheduled_maintenances';

type TakeList = (top: JsonObject, name: ListName) => JsonObject[];

/**
 * The entries of one list of a document. Entries with the impact `maintenance`, with a status of maintenances or in their
 * list are maintenances. `takeList` returns the list; the default throws if it is missing. Throws {@link FeedFormatError}
 * if the document is of another kind.
 */
function readStatuspageEntries(
  body: Uint8Array,
  list: ListName,
  source: FeedSource,
  takeList: TakeList = requireObjects,
): (FeedEntry | null)[] {
  const top = readJsonObject(body);
  const home = homeOf(requirePage(top), source);
  return takeList(top, list).map((item) => {
    const status = wordAt(item, 'status');
    const maintained =
      list === 'scheduled_maintenances' ||
      wordAt(item, 'impact') === 'maintenance' ||
      lookUp(STATES, status) !== null;
    return maintained ? readMaintenance(item, home) : readIncident(item, home);
  });
}

/** The page of a document; it must have an identifier or a name. */
function requirePage(top: JsonObject): JsonObject {
  const page = objectAt(top, 'page');
  if (page !== null && (textAt(page, 'id') || textAt(page, 'name')) !== '') return page;
  const inactive = /\binactive\b/i.test(textAt(top, 'error') + textAt(top, 'message'));
  throw new FeedFormatError(inactive ? 'the page is inactive' : 'the document names no page');
}

/**
 * The earliest time of an incident, epoch milliseconds; null: it has none. People may backdate `started_at`; of an incident
 * that is published afterwards it is the time of writing, and its updates say when it was.
 */
function startOf(item: JsonObject): number | null {
  const times = [
    timeAt(item, 'created_at'),
    timeAt(item, 'started_at'),
    ...readUpdates(item).map(({ at }) => at),
  ];
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function readIncident(item: JsonObject, home: string): FeedIncident | null {
  const key = textAt(item, 'id');
  if (key === '') return null;
  const resolvedAt = timeAt(item, 'resolved_at');
  const status =
    lookUp(STATUSES, wordAt(item, 'status')) ?? (resolvedAt === null ? 'investigating' : 'resolved');
  const startedAt = startOf(item);
  return buildIncident({
    ...readBase(item, key, home),
    ...(startedAt === null ? {} : { continues: STATE_KEYS }),
    severity: lookUp(COMMON_SEVERITIES, wordAt(item, 'impact')) ?? 'minor',
    status,
    startedAt,
    resolvedAt,
  });
}

function readMaintenance(item: JsonObject, home: string): FeedMaintenance | null {
  const key = textAt(item, 'id');
  const until = timeAt(item, 'scheduled_until');
  const state = stateOf(wordAt(item, 'status'), timeAt(item, 'resolved_at'));
  const base = readBase(item, key, home);
  const over = base.updates.find(({ status }) => status === 'resolved')?.at ?? null;
  const endsAt = state === 'done' ? (timeAt(item, 'resolved_at') ?? over ?? until) : until;
  const startsAt = timeAt(item, 'scheduled_for') ?? startOf(item);
  if (key === '' || startsAt === null) return null;
  return buildMaintenance({ ...base, startsAt, endsAt, state });
}

/** A maintenance that the page lists as an incident has an incident's status. */
function stateOf(word: string, resolvedAt: number | null): FeedMaintenance['state'] {
  const state = lookUp(STATES, word);
  if (state !== null) return state;
  const status = lookUp(STATUSES, word) ?? (resolvedAt === null ? null : 'resolved');
  if (status === null) return 'planned';
  return status === 'resolved' ? 'done' : 'running';
}

/** The page's URL without a slash at the end. A very long one is ignored, since every entry contains it. */
function homeOf(page: JsonObject, { pageUrl }: FeedSource): string {
  const home = safeLink(member(page, 'url'), pageUrl);
  return pageBase(home === null || home.length > MAX_HOME_URL_LENGTH ? pageUrl : home);
}

/** The part that incidents and maintenances share. */
function readBase(item: JsonObject, key: string, home: string) {
  const page =
    key.length > MAX_ID_LENGTH
      ? home
      : `${home}/incidents/${encodeURIComponent(key.toWellFormed()).replaceAll("'", '%27')}`;
  return {
    key,
    title: textAt(item, 'name'),
    sourceUrl: safeLink(member(item, 'shortlink'), home) ?? page,
    components: readComponents(item),
    updates: readUpdates(item),
  };
}

/** Also those of the updates: the incident itself no longer lists a component that has recovered. */
function readComponents(item: JsonObject): string[] {
  const own = objectsAt(item, 'components');
  const affected = objectsAt(item, 'incident_updates').flatMap((update) =>
    objectsAt(update, 'affected_components'),
  );
  return [...own, ...affected].flatMap((component) =>
    textsAt(component, 'name', 'id', 'code', 'group_id', 'group_name'),
  );
}

/** The document lists the newest first. An update without a known status keeps the status of the one before it. */
function readUpdates(item: JsonObject): FeedUpdate[] {
  const listed = objectsAt(item, 'incident_updates');
  const updates: FeedUpdate[] = [];
  let status: FeedUpdate['status'] = 'investigating';
  for (const [index, update] of listed.toReversed().entries()) {
    const word = wordAt(update, 'status');
    status = lookUp(STATUSES, word) ?? status;
    const isNewest = index === listed.length - 1;
    const at =
      timeAt(update, 'display_at') ??
      timeAt(update, 'created_at') ??
      (isNewest ? timeAt(item, 'updated_at') : null);
    // Postmortems are in Markdown, updates in HTML.
    const toPlain = word === 'postmortem' ? plainMarkdown : plainText;
    if (at !== null) updates.push({ at, status, text: toPlain(textAt(update, 'body')) });
  }
  return updates;
}

// incident.io, by documents like Statuspage's: `/api/v2/incidents.json`, and `/api/v2/summary.json` for maintenances and the
// states of components, which no other document lists. Empty lists are left out or null; incidents have neither components nor
// links. A feed URL is used as for Statuspage.

/** Reads incident.io. */
export const incidentio: FeedKind = {
  addresses(source) {
    const base = apiBase(source);
    return [
      {
        name: 'incidents',
        url: `${base}/incidents.json`,
        listsOnlyOpen: false,
        read: (body) => readStatuspageEntries(body, 'incidents', source, listOrNone),
      },
      {
        name: 'summary',
        url: `${base}/summary.json`,
        listsOnlyOpen: true,
        read(body, now) {
          const maintenances = readStatuspageEntries(body, 'scheduled_maintenances', source, listOfSummary);
          const incidents = readStatuspageEntries(body, 'incidents', source, listOrNone);
          return [...maintenances, ...readStates(body, source, [...incidents, ...maintenances], now)];
        },
      },
    ];
  },
};

/** A missing list is empty, unless the document reports an error. */
function listOrNone(top: JsonObject, name: string): JsonObject[] {
  if (Object.hasOwn(top, name)) return requireObjects(top, name);
  if (Object.hasOwn(top, 'error')) throw new FeedFormatError(`the document has no list "${name}"`);
  return [];
}

/** A summary contains the page's status. Without it, a list that is left out would end the maintenances in it. */
function listOfSummary(top: JsonObject, name: string): JsonObject[] {
  if (objectAt(top, 'status') === null) throw new FeedFormatError('the document is no summary');
  return listOrNone(top, name);
}
