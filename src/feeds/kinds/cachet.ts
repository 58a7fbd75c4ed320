/**
 * Cachet 2 (`/api/v1`) and 3 (`/api`, JSON:API): incidents, schedules, and components with their states. A feed URL is the base of the
 * API; without one it is `/api/v1` below the page. Times without a zone are read as UTC, which not every page means.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  member,
  numberAt,
  objectAt,
  objectsAt,
  readJsonObject,
  readTimed,
  requireObjects,
  textAt,
  textsAt,
  timeAt,
} from '../json-shape.ts';
import { plainMarkdown, plainText } from '../plain-text.ts';

/** Of incidents; 0 is scheduled in version 2. */
const STATUSES: ReadonlyMap<number, FeedIncident['status']> = new Map([
  [1, 'investigating'],
  [2, 'identified'],
  [3, 'monitoring'],
  [4, 'resolved'],
]);

/** Of components: performance issues, partial and major outage. */
const SEVERITIES: ReadonlyMap<number, FeedIncident['severity']> = new Map([
  [2, 'minor'],
  [3, 'minor'],
  [4, 'major'],
]);

/** Of schedules. */
const STATES: ReadonlyMap<number, FeedMaintenance['state']> = new Map([
  [0, 'planned'],
  [1, 'running'],
  [2, 'done'],
]);

const MAX_NAME_LENGTH = 100;

export const cachet: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = feedUrl === null ? `${pageBase(pageUrl)}/api/v1` : pageBase(feedUrl);
    let parts: ReturnType<typeof partOf>[] = [];
    return [
      {
        name: 'components',
        url: `${base}/components?per_page=100`,
        listsOnlyOpen: true,
        isReference: true,
        read(body) {
          parts = itemsOf(body).map(partOf);
          return [];
        },
      },
      {
        name: 'incidents',
        url: `${base}/incidents?sort=${base.endsWith('/v1') ? 'id&order=desc' : '-id'}&per_page=50`,
        listsOnlyOpen: false,
        read(body, now) {
          const names = new Map(parts.map((part) => [part.id, part.names]));
          const entries = itemsOf(body).map((item) => readIncident(item, names, pageUrl));
          return [
            ...unreportedOutages({ pageUrl, parts, pageSeverity: null, title: null }, entries, now),
            ...entries,
          ];
        },
      },
      {
        name: 'schedules',
        url: `${base}/schedules?per_page=50`,
        listsOnlyOpen: false,
        isOptional: true,
        read: (body) => itemsOf(body).map((item) => readSchedule(item, pageUrl)),
      },
    ];
  },
};

/** The items of `data`; those of JSON:API with their attributes as members. */
function itemsOf(body: Uint8Array): JsonObject[] {
  return requireObjects(readJsonObject(body), 'data').map((item) => objectAt(item, 'attributes') ?? item);
}

function partOf(component: JsonObject) {
  const names = textsAt(component, 'name', 'id').map((name) => name.slice(0, MAX_NAME_LENGTH));
  return {
    id: textAt(component, 'id'),
    names,
    severity: SEVERITIES.get(codeAt(component, 'status')) ?? null,
  };
}

/** A number, or the value of `{"human": "Fixed", "value": "4"}`; -1: neither. */
function codeAt(item: JsonObject, name: string): number {
  return numberAt(objectAt(item, name), 'value') ?? numberAt(item, name) ?? -1;
}

/** The first of these members with a time, or with an object that has one. */
function firstTime(item: JsonObject, ...names: readonly string[]): number | null {
  for (const name of names) {
    const at = timeAt(item, name) ?? timeAt(objectAt(item, name), 'string');
    if (at !== null) return at;
  }
  return null;
}

/** Null: it has no identifier, or is hidden or scheduled. */
function readIncident(
  item: JsonObject,
  names: ReadonlyMap<string, readonly string[]>,
  pageUrl: string,
): FeedIncident | null {
  const key = textAt(item, 'id');
  const code = numberAt(item, 'latest_status') ?? codeAt(item, 'status');
  if (key === '' || code === 0) return null;
  const status = STATUSES.get(code) ?? (member(item, 'is_resolved') === true ? 'resolved' : 'investigating');
  const startedAt = firstTime(item, 'occurred_at', 'occurred', 'created_at', 'created');
  const component = textAt(item, 'component_id');
  const updates = updatesOf(item, startedAt);
  return buildIncident({
    key,
    continues: STATE_KEYS,
    title: textAt(item, 'name'),
    sourceUrl: safeLink(member(item, 'permalink'), pageUrl) ?? pageUrl,
    components: component === '0' ? [] : (names.get(component) ?? [component]),
    updates,
    severity: 'minor',
    status,
    startedAt,
    resolvedAt:
      status === 'resolved' && !updates.some((update) => update.status === 'resolved')
        ? firstTime(item, 'updated_at', 'updated')
        : null,
  });
}

/** The text of the incident, and its updates. */
function updatesOf(item: JsonObject, startedAt: number | null): FeedUpdate[] {
  const text = plainText(plainMarkdown(textAt(item, 'message')));
  const told = readTimed(objectsAt(item, 'updates'), 'created_at', (update) => ({
    status: STATUSES.get(codeAt(update, 'status')) ?? ('investigating' as const),
    text: plainText(plainMarkdown(textAt(update, 'message'))),
  }));
  const first =
    startedAt === null || text === '' ? [] : [{ at: startedAt, status: 'investigating' as const, text }];
  return [...first, ...told];
}

/** Null: it has no identifier or no start. */
function readSchedule(item: JsonObject, pageUrl: string): FeedMaintenance | null {
  const key = textAt(item, 'id');
  const startsAt = firstTime(item, 'scheduled_at', 'scheduled');
  if (key === '' || startsAt === null) return null;
  return buildMaintenance({
    key: `schedule ${key}`,
    title: textAt(item, 'name'),
    sourceUrl: pageUrl,
    components: objectsAt(item, 'components').flatMap((one) => textsAt(one, 'name', 'component_id')),
    updates: [],
    startsAt,
    endsAt: firstTime(item, 'completed_at', 'completed'),
    state: STATES.get(codeAt(item, 'status')) ?? 'planned',
  });
}
