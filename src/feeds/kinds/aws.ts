/**
 * AWS: `https://health.aws.amazon.com/public/currentevents`, a list in UTF-16 of the events that are open or have just
 * ended in all regions; a feed URL replaces this address. Also the RSS of AWS, in `all.rss` or for single services, where
 * each update is an item: its guid contains the service and the item's own time (`#ec2-eu-west-1_1566559115`), never the
 * event, and its title begins with the state.
 */
import { DAY_MS } from '../../domain/durations.ts';
import type { FeedIncident, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import { buildIncident, withLastStatus, worstSeverity } from '../build-entry.ts';
import type { FeedKind, FeedSource } from '../feed-kind.ts';
import {
  type JsonObject,
  numberAt,
  objectAt,
  objectsAt,
  readJsonItems,
  readTimed,
  textAt,
  textsAt,
  timeAt,
} from '../json-shape.ts';
import { boundText, plainText, unescapeTwice } from '../plain-text.ts';
import { readTime } from '../read-time.ts';
import type { XmlFeed, XmlItem } from '../xml-items.ts';

const DOCUMENT = 'https://health.aws.amazon.com/public/currentevents';

/** An event stays open at most this long: one in a region can last for months and would mark all of AWS as disturbed. */
const MAX_OPEN_MS = 30 * DAY_MS;

/** After this long without an item, an event continues only if it is open and the title is the same. */
const MAX_SILENCE_MS = DAY_MS;

const GUID = /^https?:\/\/status\.aws\.amazon\.com\/#([a-z0-9-]{1,100})_\d{9,10}$/i;

/** Severities by the beginning of an item's title. */
const PREFIXES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/^service disruption:\s*/i, 'critical'],
  [/^(?:service (?:degradation|impact)|performance issues):\s*/i, 'major'],
  [/^informational message:\s*/i, 'minor'],
  [/^service is operating normally:\s*/i, 'minor'],
];

const RESOLVED_MARK = /\[resolved\]\s*/gi;
const RESOLVED_TITLE = /\[resolved\]\s*|^resolved:\s*/gi;
const IS_RESOLVED_TITLE = /\[resolved\]|^(?:service is operating normally|resolved):/i;
const REGION = /-((?:[a-z]{2}|us-gov|us-iso[a-z]?)-[a-z]+-\d)$/;

export const aws: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'currentevents',
      url: feedUrl ?? DOCUMENT,
      listsOnlyOpen: true,
      read: (body, now) =>
        readJsonItems(body, 'event', (item) => keyOf(item) !== '').map((item) =>
          readEvent(item, pageUrl, now),
        ),
    },
  ],
};

function readEvent(item: JsonObject, pageUrl: string, now: number): FeedIncident {
  const log = readTimed(objectsAt(item, 'event_log'), 'timestamp', (entry) => ({
    status: isResolved(entry) ? ('resolved' as const) : ('investigating' as const),
    text: plainText(textAt(entry, 'message')),
  }));
  const [summary = '', region = ''] = textsAt(item, 'summary', 'region_name');
  const incident = buildIncident({
    key: keyOf(item),
    title: `${summary.replace(RESOLVED_MARK, '')}${region === '' ? '' : ` (${region})`}`,
    sourceUrl: pageUrl,
    components: readComponents(item),
    updates: log,
    severity: readSeverity(item),
    status: isResolved(item) ? 'resolved' : 'investigating',
    startedAt: timeAt(item, 'date') ?? log[0]?.at ?? null,
    resolvedAt: timeAt(item, 'end_time') ?? log.at(-1)?.at ?? null,
  });
  return endIfOld(incident, now);
}

/** The ARN, else service and start; empty: the item is not an event. */
function keyOf(item: JsonObject): string {
  const [arn = '', service = '', date = ''] = textsAt(item, 'arn', 'service', 'date');
  if (arn !== '') return arn;
  return service === '' || date === '' ? '' : `${service} ${date}`;
}

/** Of an event or an entry of its log. */
function isResolved(item: JsonObject): boolean {
  return numberAt(item, 'status') === 0 || /\[resolved\]/i.test(textAt(item, 'summary'));
}

/** 1 informational, 2 degraded, 3 disrupted. A resolved event has the worst severity that it had. */
function readSeverity(item: JsonObject): FeedIncident['severity'] {
  const code = numberAt(item, 'status');
  const past = [
    ...objectsAt(item, 'event_log').map((entry) => numberAt(entry, 'status')),
    ...Object.values(objectAt(item, 'impacted_services') ?? {}).map((service) => numberAt(service, 'max')),
  ];
  const weight = code !== null && code > 0 ? code : past.reduce<number>((a, b) => Math.max(a, b ?? 0), 0);
  if (weight >= 3) return 'critical';
  return weight >= 2 ? 'major' : 'minor';
}

/** Services as `ec2-eu-west-1`, `ec2` and by name; the region by name and as `eu-west-1`. */
function readComponents(item: JsonObject): string[] {
  const region = /^arn:[\w-]*:health:([\w-]+):/.exec(textAt(item, 'arn'))?.[1] ?? '';
  const impacted = objectAt(item, 'impacted_services') ?? {};
  const services = [
    textsAt(item, 'service', 'service_name'),
    ...Object.entries(impacted).map(([id, service]) => [id, textAt(service, 'service_name')]),
  ];
  const names = services.flatMap(([id = '', name = '']) => {
    const short = region !== '' && id.endsWith(`-${region}`) ? id.slice(0, -region.length - 1) : '';
    return [id, short, name];
  });
  return [...names, textAt(item, 'region_name'), region];
}

type AwsItem = NonNullable<ReturnType<typeof readItem>>;

/** Returns true if an RSS feed is AWS's. An empty feed is not. */
export function isAwsFeed({ items }: XmlFeed): boolean {
  return items.length > 0 && items.every(({ id }) => GUID.test(id));
}

/** The events of AWS's RSS at `now` (epoch milliseconds), in no order. Items without a time are left out. */
export function readAwsEvents({ items }: XmlFeed, { pageUrl }: FeedSource, now: number): FeedIncident[] {
  const services = Map.groupBy(items, ({ id }) => GUID.exec(id)?.[1]?.toLowerCase() ?? '');
  return [...services].flatMap(([service, list]) => {
    const read = list.map(readItem).filter((item) => item !== null);
    return groupEvents(read).map((event) => endIfOld(incidentOf(service, event, pageUrl), now));
  });
}

function readItem({ title, published, content }: XmlItem) {
  const at = readTime(published);
  if (at === null) return null;
  const plain = plainText(title);
  const [prefix, severity] = PREFIXES.find(([pattern]) => pattern.test(plain)) ?? [null, 'minor' as const];
  return {
    at,
    title: (prefix === null ? plain : plain.replace(prefix, '')).replace(RESOLVED_TITLE, '').trim(),
    over: IS_RESOLVED_TITLE.test(plain),
    severity,
    text: boundText(plainText(unescapeTwice(content))),
  };
}

/** The items of a service grouped by event, each group oldest first. */
function groupEvents(items: readonly AwsItem[]): AwsItem[][] {
  const events: AwsItem[][] = [];
  for (const item of items.toSorted((a, b) => a.at - b.at)) {
    const event = events.at(-1);
    const last = event?.at(-1);
    if (event !== undefined && last !== undefined && continues(last, item)) event.push(item);
    else events.push([item]);
  }
  return events;
}

/**
 * Returns true if an item belongs to the event of the item before it. An open item after an end begins another event. After a
 * silence, the title decides: an event of 2026 had no update for eight weeks.
 */
function continues(last: AwsItem, item: AwsItem): boolean {
  if (item.at - last.at > MAX_SILENCE_MS) return !last.over && item.title === last.title;
  return !last.over || item.over;
}

function incidentOf(service: string, items: readonly AwsItem[], pageUrl: string): FeedIncident {
  const first = items[0];
  const last = items.at(-1);
  // AWS rewrites the titles of earlier items when an event is over, so only the newest one shows the end.
  const open = items.map(({ at, text }): FeedUpdate => ({ at, status: 'investigating', text }));
  const status = last?.over === true ? 'resolved' : 'investigating';
  // `ec2-eu-west-1` is `ec2` in `eu-west-1`.
  const region = REGION.exec(service)?.[1] ?? '';
  return buildIncident({
    key: `${service} ${Math.floor((first?.at ?? 0) / 1_000)}`,
    title: last?.title ?? '',
    sourceUrl: pageUrl,
    components: [service, region === '' ? '' : service.slice(0, -region.length - 1), region],
    updates: withLastStatus(open, status),
    severity: worstSeverity(items.map(({ severity }) => severity)),
    status,
    startedAt: first?.at ?? null,
    resolvedAt: null,
  });
}

/** Ends an open event that is too old; its later updates are left out. */
function endIfOld(incident: FeedIncident, now: number): FeedIncident {
  const { startedAt, status, updates } = incident;
  if (status === 'resolved' || startedAt === null || startedAt + MAX_OPEN_MS > now) return incident;
  const at = startedAt + MAX_OPEN_MS;
  const text = 'Open for 30 days. It no longer counts as an incident here.';
  return {
    ...incident,
    status: 'resolved',
    resolvedAt: at,
    updates: [...updates.filter((update) => update.at < at), { at, status: 'resolved', text }],
  };
}
