/**
 * Better Stack: `/index.json` (JSON:API), whose `included` list holds reports, their updates and the page's parts, each
 * with a state that monitors set before any report is written. A feed address, where one is given, is the base of the
 * host that serves `/index.json`.
 */
import type { FeedEntry, FeedIncident, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance, collectEntries } from '../build-entry.ts';
import { type FeedDocument, FeedFormatError, type FeedKind } from '../feed-kind.ts';
import { pageBase } from '../feed-urls.ts';
import {
  type JsonObject,
  lookUp,
  member,
  readJsonObject,
  requireObjects,
  toObjects,
  toText,
  toWord,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  degraded: 'minor',
  downtime: 'major',
};

const OVER = new Set(['resolved', 'operational']);

/** Titles of outages that parts have without a report. */
const TITLES: Readonly<Record<FeedIncident['severity'], string>> = {
  minor: 'Degraded performance',
  major: 'Downtime',
  critical: 'Downtime',
};

/** Keys of outages that parts have without a report. A report, or another severity, may continue such an outage. */
const STATE_KEYS = ['state major', 'state minor'];

/** What is included, by type and identifier. */
type Included = ReadonlyMap<string, JsonObject>;

/** Parts that one report or update names. */
const MAX_AFFECTED = 1_000;

/** Reads Better Stack. */
export const betterstack: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'index',
      url: `${pageBase(feedUrl ?? pageUrl).replace(/\/index\.json$/, '')}/index.json`,
      read(document, now) {
        const { pageState, included } = requirePage(document);
        const byId = new Map(included.map((item) => [`${typeOf(item)} ${idOf(item)}`, item]));
        const reports = included.filter((item) => typeOf(item) === 'status_report' && idOf(item) !== '');
        const found = reports
          .map((report) => readReport(report, byId, pageUrl))
          .filter((entry) => entry !== null);
        const told = withoutReport({ pageState, included, byId, found, pageUrl, now });
        return { entries: collectEntries([...told, ...found], now), listsOnlyOpen: false };
      },
    },
  ],
};

interface StatusPage {
  /** `aggregate_state`, the worst of its parts. */
  readonly pageState: string;
  readonly included: readonly JsonObject[];
}

function requirePage(document: FeedDocument): StatusPage {
  const top = readJsonObject(document);
  const data = member(top, 'data');
  if (toText(member(data, 'type')) !== 'status_page')
    throw new FeedFormatError('the document is not of a status page');
  const pageState = toWord(member(member(data, 'attributes'), 'aggregate_state'));
  return { pageState, included: requireObjects(top, 'included') };
}

/**
 * An incident for each severity that parts have while no report that is open or at work names them, or none of them; for
 * the state of the page alone where no part and no report accounts for it.
 */
function withoutReport({
  pageState,
  included,
  byId,
  found,
  pageUrl,
  now,
}: StatusPage & {
  readonly byId: Included;
  readonly found: readonly FeedEntry[];
  readonly pageUrl: string;
  readonly now: number;
}): FeedIncident[] {
  const reported = found.filter((entry) => isOpen(entry, now));
  if (reported.some(({ components }) => components === null)) return [];
  const named = new Set(reported.flatMap(({ components }) => components ?? []));
  const parts = included.filter((item) => typeOf(item) === 'status_page_resource');
  const states = parts.map((part) =>
    lookUp(SEVERITIES, toWord(member(member(part, 'attributes'), 'status'))),
  );
  const incidents = (['major', 'minor'] as const).flatMap((severity) => {
    const ids = parts.filter((part, index) => states[index] === severity && !named.has(idOf(part))).map(idOf);
    return ids.length === 0
      ? []
      : [
          stateIncident(
            severity,
            ids.flatMap((id) => namesOf(id, byId)),
            pageUrl,
          ),
        ];
  });
  const pageSeverity = lookUp(SEVERITIES, pageState);
  const isExplained = reported.length > 0 || states.some((severity) => severity !== null);
  return pageSeverity === null || isExplained ? incidents : [stateIncident(pageSeverity, [], pageUrl)];
}

function isOpen(entry: FeedEntry, now: number): boolean {
  if (entry.kind === 'incident') return entry.status !== 'resolved';
  return entry.state !== 'done' && entry.startsAt <= now && now < (entry.endsAt ?? now + 1);
}

/** An outage that is told by a state alone: it began with the first reading. */
function stateIncident(
  severity: FeedIncident['severity'],
  components: readonly string[],
  pageUrl: string,
): FeedIncident {
  return buildIncident({
    key: `state ${severity}`,
    continues: STATE_KEYS.filter((key) => key !== `state ${severity}`),
    title: TITLES[severity],
    sourceUrl: pageUrl,
    components,
    updates: [],
    severity,
    status: 'investigating',
    startedAt: null,
    resolvedAt: null,
  });
}

function readReport(
  report: JsonObject,
  included: Map<string, JsonObject>,
  pageUrl: string,
): FeedEntry | null {
  const attributes = member(report, 'attributes');
  const linked = takeUpdates(report, included);
  const affected = [attributes, ...linked].flatMap(affectedBy);
  const words = affected.map((one) => toWord(member(one, 'status')));
  const aggregate = toWord(member(attributes, 'aggregate_state'));
  const startsAt = readTime(member(attributes, 'starts_at'));
  const endsAt = readTime(member(attributes, 'ends_at'));
  const base = {
    key: idOf(report),
    title: toText(member(attributes, 'title')),
    sourceUrl: pageUrl,
    components: affected.flatMap((one) => namesOf(toText(member(one, 'status_page_resource_id')), included)),
  };
  if (toWord(member(attributes, 'report_type')) === 'maintenance' || aggregate === 'maintenance') {
    if (startsAt === null) return null;
    // It says `maintenance` from the announcement on: until it is over, the clock tells where it stands.
    const state = OVER.has(aggregate) ? 'done' : 'planned';
    const updates = maintenanceUpdates(linked, state === 'done');
    return buildMaintenance({ ...base, updates, startsAt, endsAt, state });
  }
  const over = OVER.has(aggregate);
  const updates = incidentUpdates(linked, over);
  return buildIncident({
    ...base,
    continues: STATE_KEYS,
    updates,
    severity: worstOf([aggregate, ...words]),
    status: over ? 'resolved' : 'investigating',
    startedAt: startsAt,
    // Often null although the report is resolved.
    resolvedAt: endsAt ?? updates.reduce<number | null>((newest, { at }) => Math.max(newest ?? 0, at), null),
  });
}

/**
 * The attributes of a report's updates. An update belongs to one report and is taken away with it: a document in which
 * all reports link to all updates must not grow to their product.
 */
function takeUpdates(report: JsonObject, included: Map<string, JsonObject>): unknown[] {
  const links = member(member(member(report, 'relationships'), 'status_updates'), 'data');
  return toObjects(links).flatMap((link) => {
    const name = `status_update ${idOf(link)}`;
    const update = included.get(name);
    return update !== undefined && included.delete(name) ? [member(update, 'attributes')] : [];
  });
}

function affectedBy(attributes: unknown): JsonObject[] {
  return toObjects(member(attributes, 'affected_resources')).slice(0, MAX_AFFECTED);
}

/** An update in which all parts have recovered is the end; so is the newest one of a report that is over. */
function incidentUpdates(linked: readonly unknown[], over: boolean): FeedUpdate[] {
  const updates = timedTexts(linked).map(({ at, text, attributes }): FeedUpdate => {
    const affected = affectedBy(attributes);
    const recovered = affected.length > 0 && affected.every((one) => OVER.has(toWord(member(one, 'status'))));
    return { at, status: recovered ? 'resolved' : 'investigating', text };
  });
  const newest = updates.at(-1);
  if (newest !== undefined) updates.splice(-1, 1, { ...newest, status: over ? 'resolved' : 'investigating' });
  return updates;
}

/** The newest one of a maintenance that is over tells its end. */
function maintenanceUpdates(linked: readonly unknown[], over: boolean): FeedUpdate[] {
  const texts = timedTexts(linked);
  return texts.map(({ at, text }, index) => ({
    at,
    status: over && index === texts.length - 1 ? 'resolved' : 'identified',
    text,
  }));
}

/** Oldest first. */
function timedTexts(linked: readonly unknown[]) {
  return linked
    .flatMap((attributes) => {
      const at = readTime(member(attributes, 'published_at'));
      return at === null ? [] : [{ at, text: plainText(toText(member(attributes, 'message'))), attributes }];
    })
    .sort((a, b) => a.at - b.at);
}

/** A part's name, identifier and section. */
function namesOf(resourceId: string, included: Included): string[] {
  const attributes = member(included.get(`status_page_resource ${resourceId}`), 'attributes');
  const section = included.get(`status_page_section ${toText(member(attributes, 'status_page_section_id'))}`);
  const sectionName = toText(member(member(section, 'attributes'), 'name'));
  return [toText(member(attributes, 'public_name')), resourceId, sectionName];
}

function worstOf(words: readonly string[]): FeedIncident['severity'] {
  return words.some((word) => lookUp(SEVERITIES, word) === 'major') ? 'major' : 'minor';
}

function typeOf(item: JsonObject): string {
  return toText(member(item, 'type'));
}

function idOf(item: JsonObject): string {
  return toText(member(item, 'id'));
}
