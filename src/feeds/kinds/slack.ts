/**
 * Slack: `/api/v2.0.0/history`, then `/api/v2.0.0/current`, which lists only what is open. A feed URL replaces the address
 * of the history.
 */
import type { FeedEntry, FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance } from '../build-entry.ts';
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

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  notice: 'minor',
  incident: 'minor',
  outage: 'major',
};

/** Statuses of maintenances alone. */
const MAINTENANCE_STATUSES = new Set(['scheduled', 'completed', 'cancelled', 'canceled']);

/** Reads Slack's status page. */
export const slack: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = `${pageBase(pageUrl)}/api/v2.0.0`;
    const read = (item: JsonObject) => readEvent(item, pageUrl);
    return [
      {
        name: 'history',
        url: feedUrl ?? `${base}/history`,
        listsOnlyOpen: false,
        read: (body) => readJsonItems(body, 'event').map(read),
      },
      {
        name: 'current',
        url: `${base}/current`,
        listsOnlyOpen: true,
        read: (body) => requireCurrent(body).map(read),
      },
    ];
  },
};

/** The list may be missing while the status is `ok`. */
function requireCurrent(body: Uint8Array): JsonObject[] {
  const top = readJsonObject(body);
  const status = wordAt(top, 'status');
  if (status !== 'ok' && status !== 'active') throw new FeedFormatError('the document has no status');
  return status === 'ok' && member(top, 'active_incidents') === null
    ? []
    : requireObjects(top, 'active_incidents');
}

function readEvent(item: JsonObject, pageUrl: string): FeedEntry | null {
  const key = textAt(item, 'id');
  if (key === '') return null;
  const type = wordAt(item, 'type');
  const status = wordAt(item, 'status');
  const createdAt = timeAt(item, 'date_created');
  const updatedAt = timeAt(item, 'date_updated');
  const base = {
    key,
    title: textAt(item, 'title'),
    sourceUrl: safeLink(member(item, 'url'), pageUrl) ?? pageUrl,
    components: textListAt(item, 'services'),
  };
  if (type === 'maintenance' || MAINTENANCE_STATUSES.has(status)) {
    const over = status === 'completed' || status === 'resolved';
    // The start of a scheduled maintenance is not known, and a cancelled one did not happen.
    if (createdAt === null || (status !== 'active' && !over)) return null;
    return buildMaintenance({
      ...base,
      updates: readNotes(item, over, 'identified'),
      startsAt: createdAt,
      endsAt: over ? updatedAt : null,
      state: over ? 'done' : 'running',
    });
  }
  const over = status === 'resolved';
  const updates = readNotes(item, over, 'investigating');
  return buildIncident({
    ...base,
    updates,
    severity: lookUp(SEVERITIES, type) ?? 'minor',
    status: over ? 'resolved' : 'investigating',
    startedAt: createdAt,
    // `date_updated` also changes when a review is published days later.
    resolvedAt: updates.find((update) => update.status === 'resolved')?.at ?? updatedAt,
  });
}

/** Sentences that report the fix. */
const FIXED = [
  /\b(?:issues?|incident|problem|errors?|trouble) (?:[^.]{0,120}? )?(?:is|are|was|were|has been|have been) (?:now )?(?:fully )?(?:self- ?)?(?:resolved|fixed)\b/i,
  /\b(?:we've|we have|and) (?:now )?(?:fully |successfully )?(?:resolved|fixed) (?:the|this|an|these) (?:issue|incident|problem)/i,
  /\b(?:fully|now|been) (?:restored|resolved)\b/i,
  /\b(?:has|have) recovered\b/i,
];

/** Words that make such a sentence one about a future fix. */
const AWAITED = /\b(?:until|once|when|whether|if|unless|before|believe|not yet)\b/i;

/** Sentences that report that the incident is not fixed yet. */
const OPEN = [
  /\b(?:still (?:ongoing|investigating|working|looking|seeing)|resurfaced|(?:continue|continuing) to (?:investigate|experience|work|monitor))\b/i,
  /\b(?:we're|we are|are) (?:also |now |actively |currently |still )*(?:investigating|monitoring|deploying|working (?:on|to))\b/i,
  /\bappears? to have (?:been )?resolved\b/i,
];

/**
 * Notes have no status. An incident that is over ended with the first note that reports the fix and is not followed by one
 * that contradicts it, else with the newest note.
 */
function readNotes(item: JsonObject, over: boolean, status: FeedUpdate['status']): FeedUpdate[] {
  const updates = readTimed(objectsAt(item, 'notes'), 'date_created', (note) => ({
    status,
    text: plainText(textAt(note, 'body')),
  }));
  if (!over) return updates;
  const open = updates.findLastIndex(({ text }) => OPEN.some((pattern) => pattern.test(text)));
  const fixed = updates.findIndex(({ text }, index) => index > open && saysFixed(text));
  const end = fixed === -1 ? updates.length - 1 : fixed;
  return updates.map((update, index) => (index < end ? update : { ...update, status: 'resolved' }));
}

function saysFixed(text: string): boolean {
  return text
    .split(/[.!?\n]+\s*/, 200)
    .some((sentence) => !AWAITED.test(sentence) && FIXED.some((pattern) => pattern.test(sentence)));
}
