/**
 * Slack: `/api/v2.0.0/history`, then `/api/v2.0.0/current`, which lists only what is open. A feed address, where one is
 * given, replaces that of the history.
 */
import type { FeedEntry, FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import {
  type JsonObject,
  lookUp,
  member,
  readJson,
  readJsonObject,
  requireObjects,
  toObjects,
  toText,
  toWord,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  notice: 'minor',
  incident: 'minor',
  outage: 'major',
};

/** Statuses that only maintenances have. */
const OF_MAINTENANCE = new Set(['scheduled', 'completed', 'cancelled', 'canceled']);

/** Reads Slack's status page. */
export const slack: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = `${pageBase(pageUrl)}/api/v2.0.0`;
    const collect = (items: readonly JsonObject[], now: number) =>
      collectEntries(
        items.map((item) => readEvent(item, pageUrl)).filter((entry) => entry !== null),
        now,
      );
    return [
      {
        name: 'history',
        url: feedUrl ?? `${base}/history`,
        read: (document, now) => ({ entries: collect(requireHistory(document), now), listsOnlyOpen: false }),
      },
      {
        name: 'current',
        url: `${base}/current`,
        read: (document, now) => ({ entries: collect(requireCurrent(document), now), listsOnlyOpen: true }),
      },
    ];
  },
};

/** A list that holds something, but no event, is of another kind. */
function requireHistory(document: FeedDocument): JsonObject[] {
  const list = readJson(document);
  if (!Array.isArray(list)) throw new FeedFormatError('the document is not a list');
  const items = toObjects(list).filter((item) => toText(member(item, 'id')) !== '');
  if (items.length === 0 && list.length > 0) throw new FeedFormatError('the document lists no event');
  return items;
}

/** The list may be missing where all is well. */
function requireCurrent(document: FeedDocument): JsonObject[] {
  const top = readJsonObject(document);
  const status = toWord(member(top, 'status'));
  if (status !== 'ok' && status !== 'active') throw new FeedFormatError('the document has no status');
  return status === 'ok' && member(top, 'active_incidents') === null
    ? []
    : requireObjects(top, 'active_incidents');
}

function readEvent(item: JsonObject, pageUrl: string): FeedEntry | null {
  const key = toText(member(item, 'id'));
  if (key === '') return null;
  const type = toWord(member(item, 'type'));
  const word = toWord(member(item, 'status'));
  const createdAt = readTime(member(item, 'date_created'));
  const updatedAt = readTime(member(item, 'date_updated'));
  const services = member(item, 'services');
  const base = {
    key,
    title: toText(member(item, 'title')),
    sourceUrl: safeLink(member(item, 'url'), pageUrl) ?? pageUrl,
    components: Array.isArray(services) ? services.map(toText) : [],
  };
  if (type === 'maintenance' || OF_MAINTENANCE.has(word)) {
    const over = word === 'completed' || word === 'resolved';
    // When a scheduled one is to begin is not told, and one that was cancelled was none.
    if (createdAt === null || (word !== 'active' && !over)) return null;
    return buildMaintenance({
      ...base,
      updates: readNotes(item, over, 'identified'),
      startsAt: createdAt,
      endsAt: over ? updatedAt : null,
      state: over ? 'done' : 'running',
    });
  }
  const over = word === 'resolved';
  const updates = readNotes(item, over, 'investigating');
  return buildIncident({
    ...base,
    updates,
    severity: lookUp(SEVERITIES, type) ?? 'minor',
    status: over ? 'resolved' : 'investigating',
    startedAt: createdAt,
    // It is also updated when a look back is published, days later.
    resolvedAt: updates.find(({ status }) => status === 'resolved')?.at ?? updatedAt,
  });
}

/** A note that says that it is fixed. */
const FIXED = [
  /\b(?:issues?|incident|problem|errors?|trouble) (?:[^.]{0,120}? )?(?:is|are|was|were|has been|have been) (?:now )?(?:fully )?(?:self- ?)?(?:resolved|fixed)\b/i,
  /\b(?:we've|we have|and) (?:now )?(?:fully |successfully )?(?:resolved|fixed) (?:the|this|an|these) (?:issue|incident|problem)/i,
  /\b(?:fully|now|been) (?:restored|resolved)\b/i,
  /\b(?:has|have) recovered\b/i,
];

/** What makes a sentence about the fix one about what is to come. */
const AWAITED = /\b(?:until|once|when|whether|if|unless|before|believe|not yet)\b/i;

/** A note that says that it is not fixed yet, whatever else it says. */
const OPEN = [
  /\b(?:still (?:ongoing|investigating|working|looking|seeing)|resurfaced|(?:continue|continuing) to (?:investigate|experience|work|monitor))\b/i,
  /\b(?:we're|we are|are) (?:also |now |actively |currently |still )*(?:investigating|monitoring|deploying|working (?:on|to))\b/i,
  /\bappears? to have (?:been )?resolved\b/i,
];

/**
 * Notes have no status of their own. Of what is over, the first note that says that it is fixed tells the end, with no
 * later one that says otherwise; where none says so, the newest one does.
 */
function readNotes(item: JsonObject, over: boolean, status: FeedUpdate['status']): FeedUpdate[] {
  const updates = toObjects(member(item, 'notes'))
    .flatMap((note): FeedUpdate[] => {
      const at = readTime(member(note, 'date_created'));
      return at === null ? [] : [{ at, status, text: plainText(toText(member(note, 'body'))) }];
    })
    .sort((a, b) => a.at - b.at);
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
