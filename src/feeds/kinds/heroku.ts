/**
 * Heroku: `/api/v4/current-status`, which lists only what is open, then `/api/v4/incidents`, the history. A feed URL replaces the
 * address of the current status. Its list of scheduled maintenances is ignored: it keeps past ones as upcoming and has no times.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, COMMON_STATUSES, withLastStatus } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectsAt,
  readJsonItems,
  readJsonObject,
  readTimed,
  requireObjects,
  textAt,
  textListAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

const HISTORY = 50;

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  ...COMMON_STATUSES,
  open: 'investigating',
  issue: 'investigating',
};

/** Reads Heroku's status page. */
export const heroku: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = `${pageBase(pageUrl)}/api/v4`;
    const read = (item: JsonObject) => readIncident(item, pageUrl);
    return [
      {
        name: 'current-status',
        url: feedUrl ?? `${base}/current-status`,
        listsOnlyOpen: true,
        read: (body) => requireCurrent(body).map(read),
      },
      {
        name: 'incidents',
        url: `${base}/incidents?limit=${HISTORY}`,
        listsOnlyOpen: false,
        read: (body) => readJsonItems(body, 'incident').map(read),
      },
    ];
  },
};

function requireCurrent(body: Uint8Array): JsonObject[] {
  const top = readJsonObject(body);
  if (objectsAt(top, 'status').every((one) => textAt(one, 'system') === ''))
    throw new FeedFormatError('the document tells the status of no system');
  return requireObjects(top, 'incidents');
}

function readIncident(item: JsonObject, pageUrl: string): FeedIncident | null {
  const key = textAt(item, 'id');
  // The member `resolved` stays false in incidents that have a `state`. Older ones have none.
  const state = wordAt(item, 'state') || (member(item, 'resolved') === true ? 'resolved' : '');
  if (key === '' || isMaintenance(item, state)) return null;
  const updates = readUpdates(item, state === 'resolved');
  const systems = objectsAt(item, 'systems');
  const colours = [
    ...systems.map((system) => wordAt(system, 'status')),
    wordAt(item, 'status_prod'),
    wordAt(item, 'status_dev'),
  ];
  return buildIncident({
    key,
    title: textAt(item, 'title'),
    sourceUrl: safeLink(member(item, 'full_url'), pageUrl) ?? pageUrl,
    components: [
      ...systems.flatMap((system) => [textAt(system, 'name'), ...textListAt(system, 'services')]),
      ...textListAt(item, 'tags'),
    ],
    updates,
    severity: colours.includes('red') ? 'major' : 'minor',
    status: lookUp(STATUSES, state) ?? 'investigating',
    startedAt: timeAt(item, 'created_at'),
    resolvedAt: updates.at(-1)?.at ?? timeAt(item, 'updated_at'),
  });
}

/** Returns true if all updates, except one that reports the end, are those of a maintenance. */
function isMaintenance(item: JsonObject, state: string): boolean {
  if (state === 'upcoming' || state === 'scheduled') return true;
  const types = objectsAt(item, 'updates')
    .map((update) => wordAt(update, 'update_type'))
    .filter((type) => type !== 'resolved');
  return types.length > 0 && types.every((type) => type === 'scheduled' || type === 'maintenance');
}

/** Oldest first; the newest update of a resolved incident reports its end. */
function readUpdates(item: JsonObject, over: boolean): readonly FeedUpdate[] {
  const updates = readTimed(objectsAt(item, 'updates'), 'created_at', (update) => ({
    status: lookUp(STATUSES, wordAt(update, 'update_type')) ?? 'investigating',
    text: plainText(textAt(update, 'contents')),
  }));
  return over ? withLastStatus(updates, 'resolved') : updates;
}
