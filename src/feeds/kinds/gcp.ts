/**
 * Google's dashboards (Cloud, Workspace, Ads, Maps): `incidents.json` below the page, an archive of incidents with texts
 * in Markdown. A feed address, where one is given, is that of this document.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import { type JsonObject, member, readJsonList, toObject, toObjects, toText, toWord } from '../json-shape.ts';
import { plainMarkdown } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

/** Reads Google's dashboards. */
export const gcp: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'incidents',
      url: feedUrl ?? `${pageBase(pageUrl)}/incidents.json`,
      read(document, now) {
        const found = requireIncidents(document).map((item) => readIncident(item, pageUrl));
        return {
          entries: collectEntries(
            found.filter((entry) => entry !== null),
            now,
          ),
          listsOnlyOpen: false,
        };
      },
    },
  ],
};

/** A list that holds something, but no incident, is of another kind. */
function requireIncidents(document: FeedDocument): JsonObject[] {
  const list = readJsonList(document);
  const items = toObjects(list).filter(
    (item) => toText(member(item, 'id')) !== '' && Object.hasOwn(item, 'begin'),
  );
  if (items.length === 0 && list.length > 0) throw new FeedFormatError('the document lists no incident');
  return items;
}

function readIncident(item: JsonObject, pageUrl: string): FeedIncident {
  const endedAt = readTime(member(item, 'end'));
  const updates = readUpdates(item, endedAt);
  const recovered = updates.at(-1)?.status === 'monitoring';
  return buildIncident({
    key: toText(member(item, 'id')),
    title: readTitle(toText(member(item, 'external_desc'))),
    // Relative to the dashboard, which has no slash at its end.
    sourceUrl: safeLink(member(item, 'uri'), `${pageBase(pageUrl)}/`) ?? pageUrl,
    components: readComponents(item),
    updates,
    severity: readSeverity(item),
    status: endedAt !== null ? 'resolved' : recovered ? 'monitoring' : 'investigating',
    // Typed by people afterwards.
    startedAt: readTime(member(item, 'begin')) ?? readTime(member(item, 'created')),
    resolvedAt: endedAt,
  });
}

/** The first line that says something, without its label. */
function readTitle(description: string): string {
  const lines = plainMarkdown(description)
    .split('\n')
    .map((line) => line.replace(/^\s*(?:incident )?(?:title|summary|description)\s*(?::|$)\s*/i, '').trim());
  return lines.find((line) => line !== '') ?? '';
}

/**
 * Before the end, `AVAILABLE` in the newest update says that the service has recovered. What is written from the end on,
 * looks back among it, is resolved.
 */
function readUpdates(item: JsonObject, endedAt: number | null): FeedUpdate[] {
  const newest = toObject(member(item, 'most_recent_update'));
  const listed = toObjects(member(item, 'updates'));
  const byTime = new Map<number, FeedUpdate>();
  for (const update of newest === null ? listed : [...listed, newest]) {
    const at = readTime(member(update, 'when')) ?? readTime(member(update, 'created'));
    if (at === null) continue;
    const available = toWord(member(update, 'status')) === 'available';
    const text = plainMarkdown(toText(member(update, 'text')));
    const over = endedAt !== null && at >= endedAt;
    byTime.set(at, { at, status: over ? 'resolved' : available ? 'monitoring' : 'investigating', text });
  }
  const updates = [...byTime.values()].sort((a, b) => a.at - b.at);
  const last = updates.at(-1);
  if (last !== undefined && endedAt !== null) updates.splice(-1, 1, { ...last, status: 'resolved' });
  return updates;
}

function readSeverity(item: JsonObject): FeedIncident['severity'] {
  const impact = toWord(member(item, 'status_impact'));
  const severity = toWord(member(item, 'severity'));
  if (impact === 'service_outage') return severity === 'high' ? 'critical' : 'major';
  if (impact === 'service_disruption') return severity === 'low' ? 'minor' : 'major';
  return 'minor';
}

/** `service_name` may be "Multiple Products", which names none. */
function readComponents(item: JsonObject): string[] {
  const products = toObjects(member(item, 'affected_products')).flatMap((product) =>
    ['title', 'current_title', 'id'].map((name) => toText(member(product, name))),
  );
  const service = toText(member(item, 'service_name'));
  if (/^multiple (products|services)$/i.test(service)) return products;
  return [...products, service, toText(member(item, 'service_key'))];
}
