/**
 * Zscaler: `https://trust.zscaler.com/api/cloud-status`, the open events of one cloud by service. The page does not name its cloud as the
 * address does, so that a feed URL is needed.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, worstSeverity } from '../build-entry.ts';
import { FeedFormatError, type FeedKind, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  member,
  objectAt,
  objectsAt,
  readJsonObject,
  requireObjects,
  textAt,
  textsAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

/** By what the document calls its severities; others, such as advisories and what is without impact, are no outages. */
const SEVERITIES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/\bdisruption\b/i, 'major'],
  [/\bdegradation\b/i, 'minor'],
];

/** Reads a cloud of Zscaler's. */
export const zscaler: FeedKind = {
  addresses({ pageUrl, feedUrl }) {
    if (feedUrl === null) throw new FeedFormatError('a page of Zscaler needs a feedUrl with its cloud');
    return [
      {
        name: 'cloud',
        url: feedUrl,
        listsOnlyOpen: true,
        read(body) {
          const data = objectAt(readJsonObject(body), 'data');
          if (data === null) throw new FeedFormatError('the document has no object "data"');
          const severities = new Map(
            requireObjects(data, 'severity').map((one) => [textAt(one, 'tid'), textAt(one, 'name')]),
          );
          const parts = requireObjects(data, 'category').flatMap((category) =>
            objectsAt(category, 'subCategory'),
          );
          const events = parts.flatMap((part) =>
            objectsAt(part, 'category_status').map((event) => ({
              event,
              names: textsAt(part, 'name', 'tid'),
            })),
          );
          const byId = Map.groupBy(events, ({ event }) => textAt(event, 'id'));
          return [...byId].map(([id, all]) => readEvent(id, all, severities, pageUrl));
        },
      },
    ];
  },
};

/** Null: it has no identifier, or is no outage. */
function readEvent(
  key: string,
  all: readonly { readonly event: JsonObject; readonly names: readonly string[] }[],
  severities: ReadonlyMap<string, string>,
  pageUrl: string,
): FeedIncident | null {
  const found = all.flatMap(({ event }) => {
    const name = severities.get(textAt(event, 'severityTid')) ?? '';
    return SEVERITIES.find(([pattern]) => pattern.test(name))?.[1] ?? [];
  });
  const event = all[0]?.event;
  if (key === '' || event === undefined || found.length === 0) return null;
  return buildIncident({
    key,
    title: textAt(event, 'title'),
    sourceUrl: safeLink(member(event, 'alias'), pageUrl) ?? pageUrl,
    components: all.flatMap(({ names }) => names),
    updates: updatesOf(textAt(event, 'description')),
    severity: worstSeverity(found),
    status: /^(?:resolved|closed|completed)$/i.test(textAt(event, 'status')) ? 'resolved' : 'investigating',
    startedAt: readTime(member(event, 'from')) ?? readTime(member(event, 'ri_date')),
    resolvedAt: null,
  });
}

/** The updates of a description: `<span class="report-time">Wed, 12 Aug 2026 06:54:30 UTC</span>` before each text. */
function updatesOf(html: string): FeedUpdate[] {
  const [, ...parts] = html.slice(0, 200_000).split(/<span class="report-time">/);
  const updates = parts.flatMap((part): FeedUpdate[] => {
    const at = readTime(part.slice(0, part.indexOf('<')));
    const text = plainText(part.slice(part.indexOf('</p>') + 4).split('<p class="zs-update">')[0] ?? '');
    return at === null || text === '' ? [] : [{ at, status: 'investigating', text }];
  });
  // The newest stands above all of them as well.
  return updates.filter(
    ({ at, text }, index) => updates.findLastIndex((one) => one.at === at && one.text === text) === index,
  );
}
