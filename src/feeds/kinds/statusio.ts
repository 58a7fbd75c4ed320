/**
 * Status.io: the public status API, which lists only what is active or planned. Its address,
 * `https://api.status.io/1.0/status/<page id>`, does not follow from the page's: the catalogue has it as feed URL.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, STATE_KEYS, unreportedOutages } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  textsAt,
  timeAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

/** `state` of a message. */
const STATUSES = new Map<number, FeedUpdate['status']>([
  [100, 'investigating'],
  [200, 'identified'],
  [300, 'monitoring'],
  [400, 'resolved'],
]);

/** `status` of a message. 100, operational, and 200, planned maintenance, are no severities. */
const SEVERITIES = new Map<number, FeedIncident['severity']>([
  [300, 'minor'],
  [400, 'major'],
  [500, 'critical'],
  [600, 'major'],
]);

type Message = ReturnType<typeof readMessages>[number];

/** Reads Status.io. */
export const statusio: FeedKind = {
  addresses(source) {
    const url = feedAddress(source);
    return [
      {
        name: 'status',
        url,
        listsOnlyOpen: true,
        read(body, now) {
          const result = requireResult(body);
          const link = linkTo(source.pageUrl, url);
          const incidents = requireObjects(result, 'incidents').map((item) => readIncident(item, link));
          const maintenance = objectAt(result, 'maintenance') ?? {};
          const maintenances = (['active', 'upcoming'] as const).flatMap((list) =>
            objectsAt(maintenance, list).map((item) => readMaintenance(item, list, link)),
          );
          const entries = [...incidents, ...maintenances];
          return [...unreportedOutages(statesOf(result, source.pageUrl), entries, now), ...entries];
        },
      },
    ];
  },
};

/** Throws {@link FeedFormatError} if neither address contains the identifier of the page. */
function feedAddress({ pageUrl, feedUrl }: FeedSource): string {
  if (feedUrl !== null) return feedUrl;
  const id = /\/pages\/(?:[a-z]+\/)?([0-9a-f]{24})\b/.exec(pageUrl)?.[1];
  if (id === undefined) throw new FeedFormatError('a page of Status.io needs a feedUrl with its identifier');
  return `https://api.status.io/1.0/status/${id}`;
}

function requireResult(body: Uint8Array): JsonObject {
  const result = objectAt(readJsonObject(body), 'result');
  if (result === null || objectAt(result, 'status_overall') === null)
    throw new FeedFormatError('the document has no result with an overall status');
  return result;
}

/** The states of the page's components, and of containers (locations) within them. */
function statesOf(result: JsonObject, pageUrl: string) {
  const parts = objectsAt(result, 'status').map((component) => {
    const bad = objectsAt(component, 'containers').filter((one) => severityOf(one, 'status_code') !== null);
    return {
      id: textAt(component, 'id'),
      names: [component, ...bad].flatMap((one) => textsAt(one, 'name', 'id')),
      severity: severityOf(component, 'status_code'),
    };
  });
  const pageSeverity = severityOf(objectAt(result, 'status_overall') ?? {}, 'status_code');
  return { pageUrl, parts, pageSeverity, title: null };
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
  const resolvedAt = timeAt(item, 'datetime_resolved');
  const status =
    messages.findLast((message) => message.status !== null)?.status ??
    (resolvedAt === null ? 'investigating' : 'resolved');
  const severity = messages.findLast((message) => message.severity !== null)?.severity;
  return buildIncident({
    key,
    continues: STATE_KEYS,
    title: textAt(item, 'name'),
    sourceUrl: link('incident', key),
    components: readComponents(item),
    updates: timed(messages, (message, before) => message.status ?? before),
    severity: severity ?? severityOf(item, 'status_code') ?? 'minor',
    status,
    startedAt: timeAt(item, 'datetime_open') ?? messages.find(({ at }) => at !== null)?.at ?? null,
    resolvedAt,
  });
}

function readMaintenance(
  item: JsonObject,
  list: 'active' | 'upcoming',
  link: ReturnType<typeof linkTo>,
): FeedMaintenance | null {
  const key = keyOf(item);
  const opened = list === 'active' ? timeAt(item, 'datetime_open') : null;
  const startsAt = timeAt(item, 'datetime_planned_start') ?? opened;
  if (key === '' || startsAt === null) return null;
  const messages = readMessages(item);
  const over = messages.at(-1)?.status === 'resolved';
  return buildMaintenance({
    key,
    title: textAt(item, 'name'),
    sourceUrl: link('maintenance', key),
    components: readComponents(item),
    updates: timed(messages, ({ status }) => (status === 'resolved' ? 'resolved' : 'identified')),
    startsAt,
    endsAt: timeAt(item, 'datetime_planned_end'),
    state: over ? 'done' : list === 'active' ? 'running' : 'planned',
  });
}

/** Oldest first; messages without a time come first. */
function readMessages(item: JsonObject) {
  return objectsAt(item, 'messages')
    .map((message) => ({
      at: timeAt(message, 'datetime'),
      text: plainText(textAt(message, 'details')),
      status: STATUSES.get(numberAt(message, 'state') ?? 0) ?? null,
      severity: severityOf(message, 'status'),
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
    .flatMap((name) => objectsAt(item, name))
    .flatMap((one) => textsAt(one, 'name', '_id', 'id'));
}

function severityOf(item: JsonObject, name: string): FeedIncident['severity'] | null {
  return SEVERITIES.get(numberAt(item, name) ?? 0) ?? null;
}

function keyOf(item: JsonObject): string {
  return textAt(item, '_id') || textAt(item, 'id');
}
