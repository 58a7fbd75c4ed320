/**
 * Atlassian Statuspage: `/api/v2/incidents.json` (the 50 newest, in any state) and
 * `/api/v2/scheduled-maintenances.json`. A feed address, where one is given, is the base of the host that serves
 * `/api/v2`, such as `https://example.statuspage.io` for a page whose own host serves none.
 */
import type { FeedEntry, FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind, type FeedSource } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import {
  type JsonObject,
  lookUp,
  member,
  readJsonObject,
  requireObjects,
  toObject,
  toObjects,
  toText,
  toWord,
} from '../json-shape.ts';
import { plainMarkdown, plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  investigating: 'investigating',
  identified: 'identified',
  monitoring: 'monitoring',
  resolved: 'resolved',
  postmortem: 'resolved',
  // Of maintenances, whose incident is `identified` until its end (decisions, Incidents).
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

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  none: 'minor',
  minor: 'minor',
  major: 'major',
  critical: 'critical',
};

const MAX_HOME_URL_LENGTH = 300;
const MAX_ID_LENGTH = 100;

/** Reads Statuspage. */
export const statuspage: FeedKind = {
  addresses(source) {
    const base = apiBase(source);
    return [
      {
        name: 'incidents',
        url: `${base}/incidents.json`,
        read: (document, now) => ({
          entries: collectEntries(readStatuspageEntries(document, 'incidents', source), now),
          listsOnlyOpen: false,
        }),
      },
      {
        name: 'scheduled-maintenances',
        url: `${base}/scheduled-maintenances.json`,
        read: (document, now) => ({
          entries: collectEntries(readStatuspageEntries(document, 'scheduled_maintenances', source), now),
          listsOnlyOpen: false,
        }),
      },
    ];
  },
};

/** Address of `/api/v2` at the page's host, or at the one that the feed address names; no slash at its end. */
export function apiBase({ pageUrl, feedUrl }: FeedSource): string {
  const base = pageBase(feedUrl ?? pageUrl);
  return `${base.replace(/\/api\/v2(\/[^/]+\.json)?$/, '')}/api/v2`;
}

/** A list of a document. */
type ListName = 'incidents' | 'scheduled_maintenances';

/**
 * Every readable entry of one list of a document, in its order. Entries of the impact `maintenance`, with a status of
 * maintenances or in a list of them, are maintenances. `takeList` finds the list in the document; by default one that
 * is missing makes it a document of another kind.
 * Throws {@link FeedFormatError} where the document is of another kind.
 */
export function readStatuspageEntries(
  document: FeedDocument,
  list: ListName,
  source: FeedSource,
  takeList: (top: JsonObject, name: ListName) => JsonObject[] = requireObjects,
): FeedEntry[] {
  const top = readJsonObject(document);
  const home = homeOf(requirePage(top), source);
  return takeList(top, list).flatMap((item) => {
    const status = toWord(member(item, 'status'));
    const maintained =
      list === 'scheduled_maintenances' ||
      toWord(member(item, 'impact')) === 'maintenance' ||
      lookUp(STATES, status) !== null;
    return (maintained ? readMaintenance(item, home) : readIncident(item, home)) ?? [];
  });
}

/** The page that a document speaks of: an identifier or a name proves that it is one. */
function requirePage(top: JsonObject): JsonObject {
  const page = toObject(member(top, 'page'));
  if (page !== null && (toText(member(page, 'id')) || toText(member(page, 'name'))) !== '') return page;
  const inactive = /\binactive\b/i.test(toText(member(top, 'error')) + toText(member(top, 'message')));
  throw new FeedFormatError(inactive ? 'the page is inactive' : 'the document names no page');
}

function readIncident(item: JsonObject, home: string): FeedIncident | null {
  const key = toText(member(item, 'id'));
  if (key === '') return null;
  const resolvedAt = readTime(member(item, 'resolved_at'));
  const status =
    lookUp(STATUSES, toWord(member(item, 'status'))) ?? (resolvedAt === null ? 'investigating' : 'resolved');
  return buildIncident({
    key,
    title: toText(member(item, 'name')),
    sourceUrl: linkOf(item, key, home),
    components: readComponents(item),
    updates: readUpdates(item),
    severity: lookUp(SEVERITIES, toWord(member(item, 'impact'))) ?? 'minor',
    status,
    // Backdated by people; absent on old pages.
    startedAt: readTime(member(item, 'started_at')) ?? readTime(member(item, 'created_at')),
    resolvedAt,
  });
}

function readMaintenance(item: JsonObject, home: string): FeedMaintenance | null {
  const key = toText(member(item, 'id'));
  const startsAt = ['scheduled_for', 'started_at', 'created_at']
    .map((name) => readTime(member(item, name)))
    .find((at) => at !== null);
  if (key === '' || startsAt == null) return null;
  const resolvedAt = readTime(member(item, 'resolved_at'));
  const until = readTime(member(item, 'scheduled_until'));
  const state = stateOf(toWord(member(item, 'status')), resolvedAt);
  return buildMaintenance({
    key,
    title: toText(member(item, 'name')),
    sourceUrl: linkOf(item, key, home),
    components: readComponents(item),
    updates: readUpdates(item),
    startsAt,
    endsAt: state === 'done' ? (resolvedAt ?? until) : until,
    state,
  });
}

/** An incident that its page calls a maintenance has an incident's words. */
function stateOf(word: string, resolvedAt: number | null): FeedMaintenance['state'] {
  const state = lookUp(STATES, word);
  if (state !== null) return state;
  const status = lookUp(STATUSES, word) ?? (resolvedAt === null ? null : 'resolved');
  if (status === null) return 'planned';
  return status === 'resolved' ? 'done' : 'running';
}

/** The page's address without a slash at its end. A long one is none, and would stand in every entry. */
function homeOf(page: JsonObject, { pageUrl }: FeedSource): string {
  const home = safeLink(member(page, 'url'), pageUrl);
  return pageBase(home === null || home.length > MAX_HOME_URL_LENGTH ? pageUrl : home);
}

function linkOf(item: JsonObject, key: string, home: string): string {
  const link = safeLink(member(item, 'shortlink'), home);
  if (link !== null) return link;
  return key.length > MAX_ID_LENGTH
    ? home
    : `${home}/incidents/${encodeURIComponent(key.toWellFormed()).replaceAll("'", '%27')}`;
}

/** Of the incident and of its updates: a part that has recovered is no longer among the incident's own. */
function readComponents(item: JsonObject): string[] {
  const own = toObjects(member(item, 'components'));
  const affected = toObjects(member(item, 'incident_updates')).flatMap((update) =>
    toObjects(member(update, 'affected_components')),
  );
  return [...own, ...affected].flatMap((component) =>
    ['name', 'id', 'code', 'group_id', 'group_name'].map((name) => toText(member(component, name))),
  );
}

/** Newest first in the document. An update without a known word stays in the state of the one before it. */
function readUpdates(item: JsonObject): FeedUpdate[] {
  const listed = toObjects(member(item, 'incident_updates'));
  const updates: FeedUpdate[] = [];
  let status: FeedUpdate['status'] = 'investigating';
  for (const [index, update] of listed.toReversed().entries()) {
    const word = toWord(member(update, 'status'));
    status = lookUp(STATUSES, word) ?? status;
    const isNewest = index === listed.length - 1;
    const at =
      readTime(member(update, 'display_at')) ??
      readTime(member(update, 'created_at')) ??
      (isNewest ? readTime(member(item, 'updated_at')) : null);
    // Looks back are written in Markdown, updates in HTML.
    const toPlain = word === 'postmortem' ? plainMarkdown : plainText;
    if (at !== null) updates.push({ at, status, text: toPlain(toText(member(update, 'body'))) });
  }
  return updates;
}
