/**
 * AWS: `https://health.aws.amazon.com/public/currentevents`, a list in UTF-16 of what is open and what has just ended,
 * in all regions. A feed address, where one is given, is that of this document.
 */
import type { FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { untilItCounts } from '../aws-items.ts';
import { buildIncident } from '../build-entry.ts';
import { collectEntries } from '../collect-entries.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import {
  type JsonObject,
  member,
  readJsonList,
  toNumber,
  toObject,
  toObjects,
  toText,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const DOCUMENT = 'https://health.aws.amazon.com/public/currentevents';
const RESOLVED_MARK = /\[resolved\]\s*/gi;

/** Reads AWS. */
export const aws: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'currentevents',
      url: feedUrl ?? DOCUMENT,
      read(document, now) {
        const found = requireEvents(document).map((item) => readEvent(item, pageUrl, now));
        return {
          entries: collectEntries(
            found.filter((entry) => entry !== null),
            now,
          ),
          listsOnlyOpen: true,
        };
      },
    },
  ],
};

/** A list that holds something, but no event, is of another kind. */
function requireEvents(document: FeedDocument): JsonObject[] {
  const list = readJsonList(document);
  const items = toObjects(list).filter((item) => keyOf(item) !== '');
  if (items.length === 0 && list.length > 0) throw new FeedFormatError('the document lists no event');
  return items;
}

function readEvent(item: JsonObject, pageUrl: string, now: number): FeedIncident {
  const log = readLog(item);
  const summary = toText(member(item, 'summary'));
  const code = toNumber(member(item, 'status'));
  const over = code === 0 || isMarkedResolved(summary);
  const endedAt = readTime(member(item, 'end_time'));
  const startedAt = readTime(member(item, 'date')) ?? log[0]?.at ?? null;
  const region = toText(member(item, 'region_name'));
  const incident = buildIncident({
    key: keyOf(item),
    title: `${summary.replace(RESOLVED_MARK, '')}${region === '' ? '' : ` (${region})`}`,
    sourceUrl: pageUrl,
    components: readComponents(item),
    updates: log,
    severity: readSeverity(item, code),
    status: over ? 'resolved' : 'investigating',
    startedAt,
    resolvedAt: endedAt ?? log.at(-1)?.at ?? null,
  });
  return over ? incident : untilItCounts(incident, now);
}

/** Its name, or what it is about and when it began. */
function keyOf(item: JsonObject): string {
  const arn = toText(member(item, 'arn'));
  const service = toText(member(item, 'service'));
  const date = toText(member(item, 'date'));
  if (arn !== '') return arn;
  return service === '' || date === '' ? '' : `${service} ${date}`;
}

/** Oldest first. */
function readLog(item: JsonObject): FeedUpdate[] {
  return toObjects(member(item, 'event_log'))
    .flatMap((entry): FeedUpdate[] => {
      const at = readTime(member(entry, 'timestamp'));
      if (at === null) return [];
      const over =
        toNumber(member(entry, 'status')) === 0 || isMarkedResolved(toText(member(entry, 'summary')));
      const text = plainText(toText(member(entry, 'message')));
      return [{ at, status: over ? 'resolved' : 'investigating', text }];
    })
    .sort((a, b) => a.at - b.at);
}

/** 1 informational, 2 degraded, 3 disrupted. Once it is over, the worst that it was. */
function readSeverity(item: JsonObject, code: number | null): FeedIncident['severity'] {
  const impacted = Object.values(toObject(member(item, 'impacted_services')) ?? {});
  const past = [
    ...toObjects(member(item, 'event_log')).map((entry) => member(entry, 'status')),
    ...impacted.map((service) => member(service, 'max')),
  ];
  const worst = past.reduce<number>((before, value) => Math.max(before, toNumber(value) ?? 0), 0);
  const weight = code !== null && code > 0 ? code : worst;
  if (weight >= 3) return 'critical';
  return weight >= 2 ? 'major' : 'minor';
}

/** Services as `ec2-eu-west-1`, `ec2` and by name; the region by name and as `eu-west-1`. */
function readComponents(item: JsonObject): string[] {
  const region = /^arn:[\w-]*:health:([\w-]+):/.exec(toText(member(item, 'arn')))?.[1] ?? '';
  const impacted = toObject(member(item, 'impacted_services')) ?? {};
  const services = [
    [toText(member(item, 'service')), toText(member(item, 'service_name'))],
    ...Object.entries(impacted).map(([id, service]) => [id, toText(member(service, 'service_name'))]),
  ];
  const names = services.flatMap(([id = '', name = '']) => {
    const short = region !== '' && id.endsWith(`-${region}`) ? id.slice(0, -region.length - 1) : '';
    return [id, short, name];
  });
  return [...names, toText(member(item, 'region_name')), region];
}

function isMarkedResolved(summary: string): boolean {
  return /\[resolved\]/i.test(summary);
}
