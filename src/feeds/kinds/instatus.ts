/**
 * Instatus: `/summary.json`, which lists only what is open and contains no texts, and on newer pages the components. A feed URL is the base of the host that
 * serves `/summary.json`.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import {
  buildIncident,
  buildMaintenance,
  COMMON_STATUSES,
  STATE_KEYS,
  unreportedOutages,
} from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  numberAt,
  objectAt,
  objectsAt,
  readJsonObject,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  operational: 'minor',
  degradedperformance: 'minor',
  minoroutage: 'minor',
  partialoutage: 'minor',
  majoroutage: 'major',
};

/** States of components in trouble. They are the ends of states of a page, too: `ONEMAJOROUTAGE`, `SOMEDEGRADEDPERFORMANCE`. */
const TROUBLES: readonly (readonly [string, FeedIncident['severity']])[] = [
  ['degradedperformance', 'minor'],
  ['minoroutage', 'minor'],
  ['partialoutage', 'minor'],
  ['majoroutage', 'major'],
];

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  notstartedyet: 'planned',
  inprogress: 'running',
  completed: 'done',
};

/** A longer maintenance is a mistake. */
const MAX_MINUTES = 366 * 24 * 60;

const MAX_URL_LENGTH = 2_000;

export const instatus: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'summary',
      url: `${pageBase(feedUrl ?? pageUrl).replace(/(\/v\d+)?\/summary\.json$/, '')}/summary.json`,
      listsOnlyOpen: true,
      read(body, now) {
        const top = requireSummary(body);
        const incidents = listOf(top, 'activeIncidents').map((item) => readIncident(item, pageUrl));
        const maintenances = listOf(top, 'activeMaintenances').map((item) => readMaintenance(item, pageUrl));
        const entries = [...incidents, ...maintenances];
        return [...unreportedOutages(statesOf(top, pageUrl), entries, now), ...entries];
      },
    },
  ],
};

/** The page's name and state identify a summary: lists are left out when they are empty. */
function requireSummary(body: Uint8Array): JsonObject {
  const top = readJsonObject(body);
  const page = objectAt(top, 'page');
  if (page === null || textAt(page, 'name') === '' || textAt(page, 'status') === '')
    throw new FeedFormatError('the document names no page with a status');
  return top;
}

function listOf(top: JsonObject, name: string): JsonObject[] {
  const list = member(top, name);
  if (list !== null && !Array.isArray(list)) throw new FeedFormatError(`"${name}" is not a list`);
  return objectsAt(top, name);
}

/** The states of the page and of its components. Groups have the states of their components. */
function statesOf(top: JsonObject, pageUrl: string) {
  const parts = objectsAt(top, 'components')
    .flatMap((one) => [...objectsAt(one, 'children'), ...(member(one, 'isParent') === true ? [] : [one])])
    .map((one) => ({
      id: textAt(one, 'id') || textAt(one, 'name'),
      names: textsAt(one, 'name', 'id'),
      severity: troubleOf(one),
    }));
  return { pageUrl, parts, pageSeverity: troubleOf(objectAt(top, 'page') ?? {}), title: null };
}

/** Null: it is well, or under maintenance. */
function troubleOf(item: JsonObject): FeedIncident['severity'] | null {
  const state = wordAt(item, 'status').replaceAll('_', '');
  return TROUBLES.find(([word]) => state.endsWith(word))?.[1] ?? null;
}

function readIncident(item: JsonObject, pageUrl: string): FeedIncident | null {
  const startedAt = timeAt(item, 'started');
  const key = keyOf(item, startedAt);
  if (key === null) return null;
  const status = lookUp(COMMON_STATUSES, wordAt(item, 'status')) ?? 'investigating';
  return buildIncident({
    ...common(item, key, pageUrl),
    continues: STATE_KEYS,
    updates: newestUpdate(item, status),
    severity: lookUp(SEVERITIES, wordAt(item, 'impact').replaceAll('_', '')) ?? 'minor',
    status,
    startedAt,
    resolvedAt: null,
  });
}

function readMaintenance(item: JsonObject, pageUrl: string): FeedMaintenance | null {
  const startsAt = timeAt(item, 'start');
  const key = keyOf(item, startsAt);
  if (key === null || startsAt === null) return null;
  const minutes = numberAt(item, 'duration');
  const isDuration = minutes !== null && minutes > 0 && minutes <= MAX_MINUTES;
  const state = lookUp(STATES, wordAt(item, 'status').replaceAll('_', '')) ?? 'planned';
  return buildMaintenance({
    ...common(item, key, pageUrl),
    updates: newestUpdate(item, state === 'done' ? 'resolved' : 'identified'),
    startsAt,
    endsAt: isDuration ? startsAt + Math.round(minutes * 60_000) : null,
    state,
  });
}

function common(item: JsonObject, key: string, pageUrl: string) {
  const components = objectsAt(item, 'components');
  return {
    key,
    title: textAt(item, 'name'),
    sourceUrl: safeLink(member(item, 'url'), pageUrl) ?? pageUrl,
    components: components.flatMap((one) => textsAt(one, 'name', 'id')),
  };
}

/** The identifier, else the last part of the address, else name and start; null: it has none of these. */
function keyOf(item: JsonObject, startsAt: number | null): string | null {
  const id = textAt(item, 'id');
  if (id !== '') return id;
  const path = URL.parse(textAt(item, 'url').slice(0, MAX_URL_LENGTH), 'https://localhost')?.pathname;
  const last = path?.split('/').findLast((part) => part !== '');
  if (last !== undefined) return last;
  const name = textAt(item, 'name');
  return name !== '' && startsAt !== null ? `${name} ${startsAt}` : null;
}

/** The summary contains only the time of the newest update. */
function newestUpdate(item: JsonObject, status: FeedUpdate['status']): FeedUpdate[] {
  const at = timeAt(item, 'updatedAt');
  return at === null ? [] : [{ at, status, text: '' }];
}
