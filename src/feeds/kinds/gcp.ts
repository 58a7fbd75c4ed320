/**
 * Google's dashboards (Cloud, Workspace, Ads, Maps): `incidents.json` below the page, an archive of incidents with texts
 * in Markdown. A feed URL replaces this address.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, withLastStatus } from '../build-entry.ts';
import { type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  hasId,
  type JsonObject,
  member,
  objectAt,
  objectsAt,
  readJsonItems,
  textAt,
  textsAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainMarkdown } from '../plain-text.ts';

/** Reads Google's dashboards. */
export const gcp: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'incidents',
      url: feedUrl ?? `${pageBase(pageUrl)}/incidents.json`,
      listsOnlyOpen: false,
      read: (body) =>
        readJsonItems(body, 'incident', (item) => hasId(item) && Object.hasOwn(item, 'begin')).map((item) =>
          readIncident(item, pageUrl),
        ),
    },
  ],
};

function readIncident(item: JsonObject, pageUrl: string): FeedIncident {
  const endedAt = timeAt(item, 'end');
  const updates = readUpdates(item, endedAt);
  const recovered = updates.at(-1)?.status === 'monitoring';
  return buildIncident({
    key: textAt(item, 'id'),
    title: readTitle(textAt(item, 'external_desc')),
    // Relative to the dashboard, whose address has no slash at the end.
    sourceUrl: safeLink(member(item, 'uri'), `${pageBase(pageUrl)}/`) ?? pageUrl,
    components: readComponents(item),
    updates,
    severity: readSeverity(item),
    status: endedAt !== null ? 'resolved' : recovered ? 'monitoring' : 'investigating',
    // People enter `begin` afterwards.
    startedAt: timeAt(item, 'begin') ?? timeAt(item, 'created'),
    resolvedAt: endedAt,
  });
}

/** The first line that is not empty, without its label. */
function readTitle(description: string): string {
  const lines = plainMarkdown(description)
    .split('\n')
    .map((line) => line.replace(/^\s*(?:incident )?(?:title|summary|description)\s*(?::|$)\s*/i, '').trim());
  return lines.find((line) => line !== '') ?? '';
}

/**
 * Oldest first. Before the end, `AVAILABLE` in the newest update means that the service has recovered. Updates after the
 * end, such as a review, are resolved.
 */
function readUpdates(item: JsonObject, endedAt: number | null): readonly FeedUpdate[] {
  const newest = objectAt(item, 'most_recent_update');
  const listed = objectsAt(item, 'updates');
  const byTime = new Map<number, FeedUpdate>();
  for (const update of newest === null ? listed : [...listed, newest]) {
    const at = timeAt(update, 'when') ?? timeAt(update, 'created');
    if (at === null) continue;
    const open = wordAt(update, 'status') === 'available' ? 'monitoring' : 'investigating';
    const over = endedAt !== null && at >= endedAt;
    byTime.set(at, { at, status: over ? 'resolved' : open, text: plainMarkdown(textAt(update, 'text')) });
  }
  const updates = [...byTime.values()].sort((a, b) => a.at - b.at);
  return endedAt === null ? updates : withLastStatus(updates, 'resolved');
}

function readSeverity(item: JsonObject): FeedIncident['severity'] {
  const impact = wordAt(item, 'status_impact');
  const severity = wordAt(item, 'severity');
  if (impact === 'service_outage') return severity === 'high' ? 'critical' : 'major';
  if (impact === 'service_disruption') return severity === 'low' ? 'minor' : 'major';
  return 'minor';
}

/** A `service_name` such as "Multiple Products" is not a name. */
function readComponents(item: JsonObject): string[] {
  const products = objectsAt(item, 'affected_products').flatMap((product) =>
    textsAt(product, 'title', 'current_title', 'id'),
  );
  const [service = '', key = ''] = textsAt(item, 'service_name', 'service_key');
  return /^multiple (products|services)$/i.test(service) ? products : [...products, service, key];
}
