/**
 * Sorry: `/api/v1/notices` of a page, incidents (`unplanned`) and maintenance (`planned`) with their updates, and `/api/v1/status`,
 * the state of the page. `general` notices are news. A feed URL is the base of the host that serves `/api/v1`.
 */
import type {
  FeedEntry,
  FeedIncident,
  FeedMaintenance,
  FeedUpdate,
} from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectAt,
  objectsAt,
  readJsonObject,
  readTimed,
  requireObjects,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  investigating: 'investigating',
  identified: 'identified',
  recovering: 'monitoring',
  monitoring: 'monitoring',
  resolved: 'resolved',
  false_alarm: 'resolved',
};

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  scheduled: 'planned',
  underway: 'running',
  complete: 'done',
  completed: 'done',
  cancelled: 'done',
};

/** Of the page; it has no state for an outage. */
const PAGE_SEVERITIES = { degraded: 'minor', partially_degraded: 'minor' } as const;

export const sorry: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    const base = `${pageBase(feedUrl ?? pageUrl).replace(/\/api\/v1(\/[a-z]+)?$/, '')}/api/v1`;
    let pageSeverity: FeedIncident['severity'] | null = null;
    return [
      {
        name: 'status',
        url: `${base}/status`,
        listsOnlyOpen: true,
        isOptional: true,
        isReference: true,
        read(body) {
          const page = objectAt(readJsonObject(body), 'page');
          const state = wordAt(page, 'state');
          if (state === '') throw new FeedFormatError('the document has no state of a page');
          pageSeverity = lookUp(PAGE_SEVERITIES, state);
          return [];
        },
      },
      {
        name: 'notices',
        url: `${base}/notices?include=components,updates`,
        listsOnlyOpen: false,
        read(body, now) {
          const top = readJsonObject(body);
          const list = Array.isArray(member(top, 'notices')) ? 'notices' : 'data';
          const entries = requireObjects(top, list).map((notice) => readNotice(notice, pageUrl));
          const states = { pageUrl, parts: [], pageSeverity, title: null };
          return [...unreportedOutages(states, entries, now), ...entries];
        },
      },
    ];
  },
};

/** Null: it is news, has no identifier, or is a maintenance without a start. */
function readNotice(notice: JsonObject, pageUrl: string): FeedEntry | null {
  const key = textAt(notice, 'id');
  const type = wordAt(notice, 'type');
  const state = wordAt(notice, 'state');
  const startsAt = timeAt(notice, 'began_at') ?? timeAt(notice, 'begins_at');
  const endsAt = timeAt(notice, 'ended_at') ?? timeAt(notice, 'ends_at');
  const base = {
    key,
    title: textAt(notice, 'subject'),
    sourceUrl: safeLink(member(notice, 'link') ?? member(notice, 'url'), pageUrl) ?? pageUrl,
    components: objectsAt(notice, 'components').flatMap((one) => textsAt(one, 'name', 'id')),
  };
  if (key === '' || (type !== 'planned' && type !== 'unplanned')) return null;
  if (type === 'planned')
    return startsAt === null
      ? null
      : buildMaintenance({
          ...base,
          updates: updatesOf(notice, (word) =>
            lookUp(STATES, word) === 'done'
              ? 'resolved'
              : lookUp(STATES, word) === null
                ? null
                : 'identified',
          ),
          startsAt,
          endsAt,
          state: lookUp(STATES, state) ?? (timeAt(notice, 'ended_at') === null ? 'planned' : 'done'),
        });
  const ended = timeAt(notice, 'ended_at');
  return buildIncident({
    ...base,
    continues: STATE_KEYS,
    updates: updatesOf(notice, (word) => lookUp(STATUSES, word)),
    severity: 'minor',
    status: lookUp(STATUSES, state) ?? (ended === null ? 'investigating' : 'resolved'),
    startedAt: startsAt ?? timeAt(notice, 'created_at'),
    resolvedAt: ended,
  });
}

/** Oldest first. An update without a known state keeps that of the one before it. Without updates, the synopsis is one. */
function updatesOf(
  notice: JsonObject,
  statusOf: (word: string) => FeedUpdate['status'] | null,
): FeedUpdate[] {
  let status: FeedUpdate['status'] = statusOf('scheduled') ?? 'investigating';
  const told = readTimed(objectsAt(notice, 'updates'), 'created_at', (update) => ({
    word: wordAt(update, 'state'),
    text: plainText(textAt(update, 'content')),
  }));
  if (told.length > 0)
    return told.map(({ at, word, text }) => {
      status = statusOf(word) ?? status;
      return { at, status, text };
    });
  const at = timeAt(notice, 'updated_at');
  const text = plainText(textAt(notice, 'synopsis'));
  return at === null || text === ''
    ? []
    : [{ at, status: statusOf(wordAt(notice, 'state')) ?? status, text }];
}
