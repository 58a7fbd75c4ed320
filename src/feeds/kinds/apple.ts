/**
 * Apple: `data/system_status_en_US.js` below the page, which is JSON, or a call with JSON as that of developer.apple.com
 * was. Each service lists its events of about a day; an event of several services is listed under each.
 */
import type { FeedEntry, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance } from '../build-entry.ts';
import { decodeText, type FeedKind, pageBase } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  textListAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readMonthFirst } from '../read-time.ts';

const DEVELOPERS = 'https://www.apple.com/support/systemstatus/data/developer/system_status_en_US.js';

/** Maximum length of the name of a service, with which each of its events is read. */
const MAX_NAME_LENGTH = 100;

const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  upcoming: 'planned',
  scheduled: 'planned',
  ongoing: 'running',
  resolved: 'done',
  completed: 'done',
  canceled: 'done',
  cancelled: 'done',
};

/** Reads Apple's system status. */
export const apple: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'system-status',
      url: feedUrl ?? documentOf(pageUrl),
      listsOnlyOpen: true,
      read: (body) =>
        requireObjects(readJsonObject(withoutCall(body)), 'services').flatMap((service) =>
          objectsAt(service, 'events').map((event) =>
            readEvent(event, textAt(service, 'serviceName').slice(0, MAX_NAME_LENGTH), pageUrl),
          ),
        ),
    },
  ],
};

function documentOf(pageUrl: string): string {
  if (new URL(pageUrl).hostname === 'developer.apple.com') return DEVELOPERS;
  return `${pageBase(pageUrl)}/data/system_status_en_US.js`;
}

/** The JSON of `jsonCallback({…});`. */
function withoutCall(body: Uint8Array): Uint8Array {
  const call = /^\s*[a-z]{1,40}\(/i.exec(decodeText(body.subarray(0, 100)));
  if (call === null) return body;
  const text = decodeText(body);
  return Buffer.from(text.slice(call[0].length, text.lastIndexOf(')')));
}

/** Null: it has no identifier, or is a maintenance without a start. */
function readEvent(event: JsonObject, service: string, pageUrl: string): FeedEntry | null {
  const key = textAt(event, 'messageId');
  if (key === '') return null;
  const text = plainText(textAt(event, 'message'));
  const state = lookUp(STATES, wordAt(event, 'eventStatus')) ?? 'running';
  const status = state === 'done' ? 'resolved' : 'investigating';
  const startsAt = timeAt(event, 'epochStartDate');
  const endsAt = timeAt(event, 'epochEndDate');
  const base = {
    key,
    title: text,
    sourceUrl: pageUrl,
    components: [service, ...textListAt(event, 'affectedServices')],
  };
  const published = readMonthFirst(textAt(event, 'datePosted'));
  const updates = (status: FeedUpdate['status']) =>
    published === null ? [] : [{ at: published, status, text }];
  if (wordAt(event, 'statusType') === 'maintenance')
    return startsAt === null
      ? null
      : buildMaintenance({
          ...base,
          updates: updates(state === 'done' ? 'resolved' : 'identified'),
          startsAt,
          endsAt,
          state,
        });
  const isOutage = wordAt(event, 'statusType') === 'outage';
  return buildIncident({
    ...base,
    updates: updates(status),
    severity: isOutage && /^all\b/i.test(textAt(event, 'usersAffected')) ? 'major' : 'minor',
    status,
    startedAt: startsAt,
    resolvedAt: endsAt,
  });
}
