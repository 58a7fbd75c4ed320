/**
 * Status.io: the public status API, which lists only what is active and what is planned. Its address,
 * `https://api.status.io/1.0/status/<page id>`, does not follow from the page's: the catalogue gives it as feed address.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind, type FeedSource } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import {
  type JsonObject,
  member,
  readJsonObject,
  requireObjects,
  toNumber,
  toObject,
  toObjects,
  toText,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

/** `state` of a message. */
const STATUSES = new Map<number, FeedUpdate['status']>([
  [100, 'investigating'],
  [200, 'identified'],
  [300, 'monitoring'],
  [400, 'resolved'],
]);

/** `status` of a message: 100 is operational and 200 planned maintenance, which say nothing of an incident's weight. */
const SEVERITIES = new Map<number, FeedIncident['severity']>([
  [300, 'minor'],
  [400, 'major'],
  [500, 'critical'],
  [600, 'major'],
]);

/** A message of an incident or a maintenance. */
interface Message {
  readonly at: number | null;
  readonly text: string;
  readonly status: FeedUpdate['status'] | null;
  readonly severity: FeedIncident['severity'] | null;
}

/** Reads Status.io. */
export const statusio: FeedKind = {
  addresses(source) {
    const url = feedAddress(source);
    return [
      {
        name: 'status',
        url,
        read(document, now) {
          const result = requireResult(document);
          const link = linkTo(source.pageUrl, url);
          const incidents = requireObjects(result, 'incidents').map((item) => readIncident(item, link));
          const maintenance = toObject(member(result, 'maintenance')) ?? {};
          const maintenances = (['active', 'upcoming'] as const).flatMap((list) =>
            toObjects(member(maintenance, list)).map((item) => readMaintenance(item, list, link)),
          );
          const found = [...incidents, ...maintenances].filter((entry) => entry !== null);
          return { entries: collectEntries(found, now), listsOnlyOpen: true };
        },
      },
    ];
  },
};

/** Throws {@link FeedFormatError} where neither address holds the page's identifier. */
function feedAddress({ pageUrl, feedUrl }: FeedSource): string {
  if (feedUrl !== null) return feedUrl;
  const id = /\/pages\/(?:[a-z]+\/)?([0-9a-f]{24})\b/.exec(pageUrl)?.[1];
  if (id === undefined) throw new FeedFormatError('a page of Status.io needs a feedUrl with its identifier');
  return `https://api.status.io/1.0/status/${id}`;
}

function requireResult(document: FeedDocument): JsonObject {
  const result = toObject(member(readJsonObject(document), 'result'));
  if (result === null || toObject(member(result, 'status_overall')) === null)
    throw new FeedFormatError('the document has no result with an overall status');
  return result;
}

/** Entries have pages of their own: `/pages/incident/<page id>/<entry id>`. */
function linkTo(pageUrl: string, feedUrl: string) {
  const pageId = new URL(feedUrl).pathname.split('/').at(-1) ?? '';
  const home = pageBase(pageUrl).replace(/\/pages\/.*$/, '');
  return (kind: 'incident' | 'maintenance', id: string) =>
    safeLink(`${home}/pages/${kind}/${pageId}/${encodeURIComponent(id.toWellFormed())}`, pageUrl) ?? pageUrl;
}

function readIncident(item: JsonObject, link: ReturnType<typeof linkTo>): FeedIncident | null {
  const key = keyOf(item);
  if (key === '') return null;
  const messages = readMessages(item);
  const resolvedAt = readTime(member(item, 'datetime_resolved'));
  const told = messages.findLast(({ status }) => status !== null)?.status ?? null;
  const status = told ?? (resolvedAt === null ? 'investigating' : 'resolved');
  const severity = messages.findLast((message) => message.severity !== null)?.severity;
  return buildIncident({
    key,
    title: toText(member(item, 'name')),
    sourceUrl: link('incident', key),
    components: readComponents(item),
    updates: timed(messages, (message, before) => message.status ?? before),
    severity: severity ?? severityOf(member(item, 'status_code')) ?? 'minor',
    status,
    startedAt: readTime(member(item, 'datetime_open')) ?? messages.find(({ at }) => at !== null)?.at ?? null,
    resolvedAt,
  });
}

function readMaintenance(
  item: JsonObject,
  list: 'active' | 'upcoming',
  link: ReturnType<typeof linkTo>,
): FeedMaintenance | null {
  const key = keyOf(item);
  const opened = list === 'active' ? readTime(member(item, 'datetime_open')) : null;
  const startsAt = readTime(member(item, 'datetime_planned_start')) ?? opened;
  if (key === '' || startsAt === null) return null;
  const messages = readMessages(item);
  const over = messages.at(-1)?.status === 'resolved';
  return buildMaintenance({
    key,
    title: toText(member(item, 'name')),
    sourceUrl: link('maintenance', key),
    components: readComponents(item),
    updates: timed(messages, ({ status }) => (status === 'resolved' ? 'resolved' : 'identified')),
    startsAt,
    endsAt: readTime(member(item, 'datetime_planned_end')),
    state: over ? 'done' : list === 'active' ? 'running' : 'planned',
  });
}

/** Oldest first; those without a time, which cannot be placed, come before all others. */
function readMessages(item: JsonObject): Message[] {
  return toObjects(member(item, 'messages'))
    .map((message) => ({
      at: readTime(member(message, 'datetime')),
      text: plainText(toText(member(message, 'details'))),
      status: STATUSES.get(toNumber(member(message, 'state')) ?? 0) ?? null,
      severity: severityOf(member(message, 'status')),
    }))
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

function timed(
  messages: readonly Message[],
  statusOf: (message: Message, before: FeedUpdate['status']) => FeedUpdate['status'],
): FeedUpdate[] {
  let before: FeedUpdate['status'] = 'investigating';
  return messages.flatMap((message) => {
    before = statusOf(message, before);
    return message.at === null ? [] : [{ at: message.at, status: before, text: message.text }];
  });
}

/** Components, and containers (locations) within them. */
function readComponents(item: JsonObject): string[] {
  return ['components_affected', 'containers_affected']
    .flatMap((name) => toObjects(member(item, name)))
    .flatMap((one) => ['name', '_id', 'id'].map((name) => toText(member(one, name))));
}

function severityOf(code: unknown): FeedIncident['severity'] | null {
  return SEVERITIES.get(toNumber(code) ?? 0) ?? null;
}

function keyOf(item: JsonObject): string {
  return toText(member(item, '_id')) || toText(member(item, 'id'));
}
