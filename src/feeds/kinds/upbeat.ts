/**
 * Pages of Upbeat: `/p/<slug>.json`, or `/page.json` at a custom domain, with incidents that checks have found or
 * vendors and owners report, and announced maintenance.
 */
import type { FeedIncident, FeedMaintenance } from '../../domain/incident/feed-entry.ts';
import { buildIncident, buildMaintenance, COMMON_SEVERITIES, COMMON_STATUSES } from '../build-entry.ts';
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

export const upbeat: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'page',
      url: feedUrl ?? documentOf(pageUrl),
      listsOnlyOpen: false,
      read(body) {
        const top = readJsonObject(body);
        if (textAt(objectAt(top, 'page'), 'slug') === '')
          throw new FeedFormatError('the document names no page of Upbeat');
        return [
          ...[...requireObjects(top, 'incidents'), ...objectsAt(top, 'owner_incidents')].map((item) =>
            readIncident(item, pageUrl),
          ),
          ...[...objectsAt(top, 'maintenance'), ...objectsAt(top, 'owner_maintenances')].map((item) =>
            readMaintenance(item, pageUrl),
          ),
        ];
      },
    },
  ],
};

function documentOf(pageUrl: string): string {
  const base = pageBase(pageUrl);
  return /\/p\/[^/]+$/.test(new URL(base).pathname) ? `${base}.json` : `${base}/page.json`;
}

/** Null: it has no identifier. */
function readIncident(item: JsonObject, pageUrl: string): FeedIncident | null {
  const key = textAt(item, 'id');
  if (key === '') return null;
  const at = timeAt(item, 'started_at');
  const status = lookUp(COMMON_STATUSES, wordAt(item, 'status')) ?? 'investigating';
  const told = readTimed(objectsAt(item, 'updates'), 'at', (update) => ({
    status: lookUp(COMMON_STATUSES, wordAt(update, 'status')) ?? ('investigating' as const),
    text: plainText(textAt(update, 'text')),
  }));
  const text = plainText(textAt(item, 'description'));
  return buildIncident({
    ...readBase(item, key, pageUrl),
    updates: told.length > 0 || at === null || text === '' ? told : [{ at, status: 'investigating', text }],
    severity: lookUp(COMMON_SEVERITIES, wordAt(item, 'severity')) ?? 'minor',
    status,
    startedAt: at,
    resolvedAt: timeAt(item, 'resolved_at'),
  });
}

/** Null: it has no identifier or no start. */
function readMaintenance(item: JsonObject, pageUrl: string): FeedMaintenance | null {
  const key = textAt(item, 'id');
  const startsAt = timeAt(item, 'starts_at');
  if (key === '' || startsAt === null) return null;
  return buildMaintenance({
    ...readBase(item, `maintenance ${key}`, pageUrl),
    updates: [],
    startsAt,
    endsAt: timeAt(item, 'ends_at'),
    state: wordAt(item, 'state') === 'running' ? 'running' : 'planned',
  });
}

function readBase(item: JsonObject, key: string, pageUrl: string) {
  const services = [objectAt(item, 'service') ?? {}, ...objectsAt(item, 'services')];
  return {
    key,
    title: textAt(item, 'title'),
    sourceUrl: safeLink(member(item, 'url') ?? member(item, 'source_url'), pageUrl) ?? pageUrl,
    components: services.flatMap((service) => textsAt(service, 'name', 'slug')),
  };
}
