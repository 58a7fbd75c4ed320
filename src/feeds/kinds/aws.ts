/**
 * AWS: `https://health.aws.amazon.com/public/currentevents`, a list in UTF-16 of what is open and what has just ended,
 * in all regions. A feed address, where one is given, is that of this document.
 */

import { DAY_MS } from '../../domain/durations.ts';
import type { FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind, type FeedSource } from '../feed-kind.ts';
import {
  type JsonObject,
  member,
  readJsonList,
  toNumber,
  toObject,
  toObjects,
  toText,
} from '../json-shape.ts';
import { boundText, plainText, unescapeTwice } from '../plain-text.ts';
import { readTime } from '../read-time.ts';
import type { XmlFeed, XmlItem } from '../xml-items.ts';

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

const GUID = /^https?:\/\/status\.aws\.amazon\.com\/#([a-z0-9-]{1,100})_\d{9,10}$/i;

/**
 * Regions can stay disturbed for many months, and one that does would keep the whole of AWS from ever being well again:
 * an event counts for so long.
 */
const COUNTS_MS = 30 * DAY_MS;

/** Items of a service this close together tell of one event; after this long only one that is still open goes on. */
const SILENCE_MS = DAY_MS;

/** What stands before a title, and the weight that it gives. */
const PREFIXES: readonly (readonly [RegExp, FeedIncident['severity']])[] = [
  [/^service disruption:\s*/i, 'critical'],
  [/^(?:service (?:degradation|impact)|performance issues):\s*/i, 'major'],
  [/^informational message:\s*/i, 'minor'],
  [/^service is operating normally:\s*/i, 'minor'],
];

const RESOLVED = /\[resolved\]\s*|^resolved:\s*/gi;
const OVER = /\[resolved\]|^(?:service is operating normally|resolved):/i;

const REGION = /-((?:[a-z]{2}|us-gov|us-iso[a-z]?)-[a-z]+-\d)$/;

const RANKS: readonly FeedIncident['severity'][] = ['minor', 'major', 'critical'];

interface AwsItem {
  readonly at: number;
  readonly title: string;
  readonly over: boolean;
  readonly severity: FeedIncident['severity'];
  readonly text: string;
}

/** Whether a feed is AWS's; one without items is nobody's. */
export function isAwsFeed({ items }: XmlFeed): boolean {
  return items.length > 0 && items.every(({ id }) => GUID.test(id));
}

/** The events of a feed at `now`, in no order. Items without a time are left out. */
export function readAwsEvents({ items }: XmlFeed, { pageUrl }: FeedSource, now: number): FeedIncident[] {
  const services = new Map<string, AwsItem[]>();
  for (const item of items) {
    const service = GUID.exec(item.id)?.[1]?.toLowerCase() ?? '';
    const read = readItem(item);
    if (read === null) continue;
    const list = services.get(service);
    if (list === undefined) services.set(service, [read]);
    else list.push(read);
  }
  return [...services].flatMap(([service, list]) =>
    eventsOf(list).map((event) =>
      untilItCounts(untilItCounts(incidentOf(service, event, pageUrl), now), now),
    ),
  );
}

function readItem({ title, published, content }: XmlItem): AwsItem | null {
  const at = readTime(published);
  if (at === null) return null;
  const plain = plainText(title);
  const [prefix, severity] = PREFIXES.find(([pattern]) => pattern.test(plain)) ?? [null, 'minor' as const];
  return {
    at,
    title: (prefix === null ? plain : plain.replace(prefix, '')).replace(RESOLVED, '').trim(),
    over: OVER.test(plain),
    severity,
    text: boundText(plainText(unescapeTwice(content))),
  };
}

/**
 * The items of a service by event, each oldest first. An open item after an end begins another event. After a silence an
 * event goes on if it is open and the item has its title: one of 2026 said nothing for eight weeks.
 */
function eventsOf(items: readonly AwsItem[]): AwsItem[][] {
  const events: AwsItem[][] = [];
  for (const item of items.toSorted((a, b) => a.at - b.at)) {
    const event = events.at(-1);
    const last = event?.at(-1);
    if (event !== undefined && last !== undefined && goesOn(last, item)) event.push(item);
    else events.push([item]);
  }
  return events;
}

function goesOn(last: AwsItem, item: AwsItem): boolean {
  if (item.at - last.at > SILENCE_MS) return !last.over && item.title === last.title;
  return !last.over || item.over;
}

function incidentOf(service: string, items: readonly AwsItem[], pageUrl: string): FeedIncident {
  const first = items[0];
  const last = items.at(-1);
  // Titles of earlier items can be rewritten once it is over: only the newest one tells the end.
  const updates = items.map(({ at, over, text }, index): FeedUpdate => {
    const isEnd = over && index === items.length - 1;
    return { at, status: isEnd ? 'resolved' : 'investigating', text };
  });
  const worst = Math.max(...items.map(({ severity }) => RANKS.indexOf(severity)));
  return buildIncident({
    key: `${service} ${Math.floor((first?.at ?? 0) / 1_000)}`,
    title: last?.title ?? '',
    sourceUrl: pageUrl,
    components: namesOf(service),
    updates,
    severity: RANKS[worst] ?? 'minor',
    status: updates.at(-1)?.status ?? 'investigating',
    startedAt: first?.at ?? null,
    resolvedAt: null,
  });
}

/** `ec2-eu-west-1` is `ec2` in `eu-west-1`. */
function namesOf(service: string): string[] {
  const region = REGION.exec(service)?.[1] ?? '';
  const short = region === '' ? '' : service.slice(0, -region.length - 1);
  return [service, short, region];
}

/** Ends an open event that is too old to count. What is written of it afterwards changes nothing. */
export function untilItCounts(incident: FeedIncident, now: number): FeedIncident {
  const { startedAt, updates } = incident;
  if (startedAt === null || startedAt + COUNTS_MS > now) return incident;
  const at = startedAt + COUNTS_MS;
  const text = 'Open for 30 days. It no longer counts as an incident here.';
  return {
    ...incident,
    status: 'resolved',
    resolvedAt: at,
    updates: [...updates.filter((update) => update.at < at), { at, status: 'resolved', text }],
  };
}
