/**
 * Instatus: `/summary.json`, which lists only what is open and tells no texts. A feed address, where one is given, is
 * the base of the host that serves `/summary.json`.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import {
  type JsonObject,
  lookUp,
  member,
  readJsonObject,
  toNumber,
  toObject,
  toObjects,
  toText,
  toWord,
} from '../json-shape.ts';
import { readTime } from '../read-time.ts';

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  investigating: 'investigating',
  identified: 'identified',
  monitoring: 'monitoring',
  resolved: 'resolved',
};

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  operational: 'minor',
  degradedperformance: 'minor',
  minoroutage: 'minor',
  partialoutage: 'minor',
  majoroutage: 'major',
};

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  notstartedyet: 'planned',
  inprogress: 'running',
  completed: 'done',
};

/** No maintenance lasts longer than a year; a longer one is a mistake. */
const MAX_MINUTES = 366 * 24 * 60;

const MAX_URL_LENGTH = 2_000;

/** Reads Instatus. */
export const instatus: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'summary',
      url: `${pageBase(feedUrl ?? pageUrl).replace(/(\/v\d+)?\/summary\.json$/, '')}/summary.json`,
      read(document, now) {
        const top = requireSummary(document);
        const incidents = listOf(top, 'activeIncidents').map((item) => readIncident(item, pageUrl));
        const maintenances = listOf(top, 'activeMaintenances').map((item) => readMaintenance(item, pageUrl));
        const found = [...incidents, ...maintenances].filter((entry) => entry !== null);
        return { entries: collectEntries(found, now), listsOnlyOpen: true };
      },
    },
  ],
};

/** A page's name and its one word of state prove that it is one: its lists are absent where they are empty. */
function requireSummary(document: FeedDocument): JsonObject {
  const top = readJsonObject(document);
  const page = toObject(member(top, 'page'));
  if (page === null || toText(member(page, 'name')) === '' || toText(member(page, 'status')) === '')
    throw new FeedFormatError('the document names no page with a status');
  return top;
}

function listOf(top: JsonObject, name: string): JsonObject[] {
  const list = member(top, name);
  if (list !== null && !Array.isArray(list)) throw new FeedFormatError(`"${name}" is not a list`);
  return toObjects(list);
}

function readIncident(item: JsonObject, pageUrl: string): FeedIncident | null {
  const startedAt = readTime(member(item, 'started'));
  const key = keyOf(item, startedAt);
  if (key === null) return null;
  const status = lookUp(STATUSES, toWord(member(item, 'status'))) ?? 'investigating';
  return buildIncident({
    ...common(item, key, pageUrl),
    updates: newestUpdate(item, status),
    severity: lookUp(SEVERITIES, toWord(member(item, 'impact')).replaceAll('_', '')) ?? 'minor',
    status,
    startedAt,
    resolvedAt: null,
  });
}

function readMaintenance(item: JsonObject, pageUrl: string): FeedMaintenance | null {
  const startsAt = readTime(member(item, 'start'));
  const key = keyOf(item, startsAt);
  if (key === null || startsAt === null) return null;
  const minutes = toNumber(member(item, 'duration'));
  const isDuration = minutes !== null && minutes > 0 && minutes <= MAX_MINUTES;
  const state = lookUp(STATES, toWord(member(item, 'status')).replaceAll('_', '')) ?? 'planned';
  return buildMaintenance({
    ...common(item, key, pageUrl),
    updates: newestUpdate(item, state === 'done' ? 'resolved' : 'identified'),
    startsAt,
    endsAt: isDuration ? startsAt + Math.round(minutes * 60_000) : null,
    state,
  });
}

function common(item: JsonObject, key: string, pageUrl: string) {
  const components = toObjects(member(item, 'components'));
  return {
    key,
    title: toText(member(item, 'name')),
    sourceUrl: safeLink(member(item, 'url'), pageUrl) ?? pageUrl,
    components: components.flatMap((one) => [toText(member(one, 'name')), toText(member(one, 'id'))]),
  };
}

/** Its identifier, the last part of its address, or its name and start; null: it has none of these. */
function keyOf(item: JsonObject, startsAt: number | null): string | null {
  const id = toText(member(item, 'id'));
  if (id !== '') return id;
  const path = URL.parse(toText(member(item, 'url')).slice(0, MAX_URL_LENGTH), 'https://localhost')?.pathname;
  const last = path?.split('/').findLast((part) => part !== '');
  if (last !== undefined) return last;
  const name = toText(member(item, 'name'));
  return name !== '' && startsAt !== null ? `${name} ${startsAt}` : null;
}

/** The summary tells no more than when its newest update was. */
function newestUpdate(item: JsonObject, status: FeedUpdate['status']): FeedUpdate[] {
  const at = readTime(member(item, 'updatedAt'));
  return at === null ? [] : [{ at, status, text: '' }];
}
