/**
 * Heroku: `/api/v4/current-status`, which lists only what is open, then `/api/v4/incidents`, the history. A feed
 * address, where one is given, replaces that of the current status. Its list of scheduled maintenances keeps those that
 * are over as upcoming and tells no times: nothing is concluded from it.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import {
  type JsonObject,
  lookUp,
  member,
  readJsonList,
  readJsonObject,
  requireObjects,
  toObjects,
  toText,
  toWord,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const HISTORY = 50;

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  open: 'investigating',
  investigating: 'investigating',
  issue: 'investigating',
  identified: 'identified',
  monitoring: 'monitoring',
  resolved: 'resolved',
};

/** Reads Heroku's status page. */
export const heroku: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = `${pageBase(pageUrl)}/api/v4`;
    const collect = (items: readonly JsonObject[], now: number) =>
      collectEntries(
        items.map((item) => readIncident(item, pageUrl)).filter((entry) => entry !== null),
        now,
      );
    return [
      {
        name: 'current-status',
        url: feedUrl ?? `${base}/current-status`,
        read: (document, now) => ({ entries: collect(requireCurrent(document), now), listsOnlyOpen: true }),
      },
      {
        name: 'incidents',
        url: `${base}/incidents?limit=${HISTORY}`,
        read: (document, now) => ({ entries: collect(requireHistory(document), now), listsOnlyOpen: false }),
      },
    ];
  },
};

function requireCurrent(document: FeedDocument): JsonObject[] {
  const top = readJsonObject(document);
  const systems = toObjects(member(top, 'status')).filter((one) => toText(member(one, 'system')) !== '');
  if (systems.length === 0) throw new FeedFormatError('the document tells the status of no system');
  return requireObjects(top, 'incidents');
}

/** A list that holds something, but no incident, is of another kind. */
function requireHistory(document: FeedDocument): JsonObject[] {
  const list = readJsonList(document);
  const items = toObjects(list).filter((item) => toText(member(item, 'id')) !== '');
  if (items.length === 0 && list.length > 0) throw new FeedFormatError('the document lists no incident');
  return items;
}

function readIncident(item: JsonObject, pageUrl: string): FeedIncident | null {
  const key = toText(member(item, 'id'));
  const state = stateOf(item);
  const updates = readUpdates(item, state === 'resolved');
  if (key === '' || isMaintenance(item, state)) return null;
  const systems = toObjects(member(item, 'systems'));
  const colours = [
    ...systems.map((system) => member(system, 'status')),
    member(item, 'status_prod'),
    member(item, 'status_dev'),
  ];
  const red = colours.some((colour) => toWord(colour) === 'red');
  return buildIncident({
    key,
    title: toText(member(item, 'title')),
    sourceUrl: safeLink(member(item, 'full_url'), pageUrl) ?? pageUrl,
    components: [
      ...systems.flatMap((system) => [
        toText(member(system, 'name')),
        ...textsOf(member(system, 'services')),
      ]),
      ...textsOf(member(item, 'tags')),
    ],
    updates,
    severity: red ? 'major' : 'minor',
    status: lookUp(STATUSES, state) ?? 'investigating',
    startedAt: readTime(member(item, 'created_at')),
    resolvedAt: updates.at(-1)?.at ?? readTime(member(item, 'updated_at')),
  });
}

/** The member `resolved` stays false where there is a `state`; older incidents have no `state`. */
function stateOf(item: JsonObject): string {
  return toWord(member(item, 'state')) || (member(item, 'resolved') === true ? 'resolved' : '');
}

/** Its updates are of a maintenance, but for one that tells the end. */
function isMaintenance(item: JsonObject, state: string): boolean {
  if (state === 'upcoming' || state === 'scheduled') return true;
  const types = toObjects(member(item, 'updates'))
    .map((update) => toWord(member(update, 'update_type')))
    .filter((type) => type !== 'resolved');
  return types.length > 0 && types.every((type) => type === 'scheduled' || type === 'maintenance');
}

/** Oldest first; the newest of an incident that is over tells its end. */
function readUpdates(item: JsonObject, over: boolean): FeedUpdate[] {
  const updates = toObjects(member(item, 'updates'))
    .flatMap((update): FeedUpdate[] => {
      const at = readTime(member(update, 'created_at'));
      const status = lookUp(STATUSES, toWord(member(update, 'update_type'))) ?? 'investigating';
      return at === null ? [] : [{ at, status, text: plainText(toText(member(update, 'contents'))) }];
    })
    .sort((a, b) => a.at - b.at);
  const last = updates.at(-1);
  if (last !== undefined && over) updates.splice(-1, 1, { ...last, status: 'resolved' });
  return updates;
}

function textsOf(list: unknown): string[] {
  return Array.isArray(list) ? list.map(toText) : [];
}
