/**
 * Statuspal: `/api/v2/status_pages/<subdomain>/summary` of statuspal.io or statuspal.eu (documented), open incidents, running and
 * upcoming maintenance, and the states of services. The feed URL of a page at a custom domain is that address.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import {
  buildIncident,
  buildMaintenance,
  COMMON_STATUSES,
  STATE_KEYS,
  unreportedOutages,
} from '../build-entry.ts';
import { FeedFormatError, type FeedKind, type FeedSource, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  limitedNames,
  lookUp,
  member,
  objectAt,
  objectsAt,
  readJsonObject,
  readTimed,
  requireObjects,
  textAt,
  textListAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

/** Types of incidents, and of services that have one; owners may add others. */
const SEVERITIES = { minor: 'minor', major: 'major' } as const;

const MAX_NAME_LENGTH = 100;

type NameOf = ReturnType<typeof limitedNames>;

export const statuspal: FeedKind = {
  addresses: (source) => [
    {
      name: 'summary',
      url: summaryOf(source),
      listsOnlyOpen: true,
      read(body, now) {
        const top = readJsonObject(body);
        const page = objectAt(top, 'status_page');
        if (textAt(page, 'subdomain') === '') throw new FeedFormatError('the document names no status page');
        const services = servicesIn(requireObjects(top, 'services'));
        const names = limitedNames(new Map(services.map(({ id, name }) => [id, name])));
        const { pageUrl } = source;
        const entries = [
          ...requireObjects(top, 'incidents').map((item) => readIncident(item, names, pageUrl)),
          ...objectsAt(top, 'maintenances').map((item) => readMaintenance(item, 'running', names, pageUrl)),
          ...objectsAt(top, 'upcoming_maintenances').map((item) =>
            readMaintenance(item, 'planned', names, pageUrl),
          ),
        ];
        const parts = services.map(({ id, name, severity }) => ({ id, names: [name, id], severity }));
        const pageSeverity = lookUp(SEVERITIES, wordAt(page, 'current_incident_type'));
        return [
          ...unreportedOutages({ pageUrl, parts, pageSeverity, title: null }, entries, now),
          ...entries,
        ];
      },
    },
  ],
};

/** Throws {@link FeedFormatError} if the subdomain does not follow from the page. */
function summaryOf({ pageUrl, feedUrl }: FeedSource): string {
  if (feedUrl !== null) return feedUrl;
  const [, subdomain, host] = /^([\w-]+)\.(statuspal\.(?:io|eu))$/.exec(new URL(pageUrl).hostname) ?? [];
  if (host === undefined) throw new FeedFormatError('a page of Statuspal at a custom domain needs a feedUrl');
  return `https://${host}/api/v2/status_pages/${subdomain}/summary`;
}

/** All services. Parents have the states of their children, which say more. */
function servicesIn(top: readonly JsonObject[]) {
  const found: { id: string; name: string; severity: FeedIncident['severity'] | null }[] = [];
  const queue = [...top];
  for (let service = queue.pop(); service !== undefined; service = queue.pop()) {
    const children = objectsAt(service, 'children').filter((child) => textAt(child, 'id') !== '');
    found.push({
      id: textAt(service, 'id'),
      name: textAt(service, 'name').slice(0, MAX_NAME_LENGTH),
      severity: children.length > 0 ? null : lookUp(SEVERITIES, wordAt(service, 'current_incident_type')),
    });
    for (const child of children) queue.push(child);
  }
  return found;
}

function readIncident(item: JsonObject, names: NameOf, pageUrl: string): FeedIncident | null {
  const base = readBase(item, names, pageUrl);
  const endsAt = timeAt(item, 'ends_at');
  if (base === null || wordAt(item, 'type') === 'info') return null;
  const status = endsAt === null ? 'investigating' : 'resolved';
  const updates = updatesOf(item, COMMON_STATUSES, 'investigating');
  return buildIncident({
    ...base,
    continues: STATE_KEYS,
    updates,
    severity: lookUp(SEVERITIES, wordAt(item, 'type')) ?? 'minor',
    status: endsAt === null ? (updates.at(-1)?.status ?? status) : status,
    startedAt: timeAt(item, 'starts_at') ?? timeAt(item, 'inserted_at'),
    resolvedAt: endsAt,
  });
}

function readMaintenance(
  item: JsonObject,
  state: FeedMaintenance['state'],
  names: NameOf,
  pageUrl: string,
): FeedMaintenance | null {
  const base = readBase(item, names, pageUrl);
  const startsAt = timeAt(item, 'starts_at');
  if (base === null || startsAt === null) return null;
  const updates = updatesOf(item, { completed: 'resolved' }, 'identified');
  return buildMaintenance({ ...base, updates, startsAt, endsAt: timeAt(item, 'ends_at'), state });
}

/** Null: it has no identifier. */
function readBase(item: JsonObject, names: NameOf, pageUrl: string) {
  const key = textAt(item, 'id');
  if (key === '') return null;
  const ids = textListAt(item, 'service_ids');
  return {
    key,
    title: textAt(item, 'title'),
    sourceUrl: safeLink(member(item, 'url'), pageUrl) ?? pageUrl,
    components: ids.flatMap((id) => [names(id), id]),
  };
}

/** An update of another type keeps the status of the one before it. */
function updatesOf(
  item: JsonObject,
  statuses: Readonly<Record<string, FeedUpdate['status']>>,
  first: FeedUpdate['status'],
): FeedUpdate[] {
  let status = first;
  return readTimed(objectsAt(item, 'updates'), 'posted_at', (update) => ({
    word: wordAt(update, 'type'),
    text: plainText(textAt(update, 'description')),
  })).map(({ at, word, text }) => {
    status = lookUp(statuses, word) ?? status;
    return { at, status, text };
  });
}
