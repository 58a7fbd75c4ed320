/** Incidents and maintenances as Salesforce's Trust API writes them. */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/feed-entry.ts';
import { buildIncident, buildMaintenance } from '../build-entry.ts';
import { pageBase, safeLink } from '../feed-urls.ts';
import { type JsonObject, lookUp, member, toObjects, toText, toWord } from '../json-shape.ts';
import { plainText } from '../plain-text.ts';
import { readTime } from '../read-time.ts';

const SEVERITIES: Readonly<Record<string, FeedIncident['severity']>> = {
  minor: 'minor',
  major: 'major',
  critical: 'critical',
};

/**
 * Where an impact has no severity, its type may tell: `serviceDisruption`, `herokuAppsServiceDisruption`,
 * `ccCartsUnavailable`. All others are degradations.
 */
const MAJOR_TYPE = /^(?!feature).*servicedisruption|unavailable$/;

const RANKS = ['minor', 'major', 'critical'] as const;

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  active: 'investigating',
  investigating: 'investigating',
  identified: 'identified',
  rootcauseidentified: 'identified',
  monitoring: 'monitoring',
  mitigated: 'monitoring',
  resolved: 'resolved',
  resolution: 'resolved',
  closed: 'resolved',
};

/**
 * Types of an incident's events, of which there are many: `investigatingCauseNewEngineers`, `issueIsolatedDatabaseTier`,
 * `implementingSolutionWorkingOnFix`, `monitoringPostSiteSwitch`, and by product `herokuIncidentMonitoring`.
 */
const EVENT_STATUSES: readonly (readonly [RegExp, FeedIncident['status']])[] = [
  [/^monitoring|monitoring$/, 'monitoring'],
  [/^issueisolated|^implementingsolution|identified$/, 'identified'],
  [/^investigating|investigating$/, 'investigating'],
  [/resolved$/, 'resolved'],
];

/** Types of a maintenance's events. */
const STATES: Readonly<Record<string, FeedMaintenance['state']>> = {
  scheduled: 'planned',
  started: 'running',
  inprogress: 'running',
  completed: 'done',
  canceled: 'done',
  cancelled: 'done',
};

/** An event of an incident or a maintenance. */
interface TrustEvent {
  readonly at: number;
  readonly type: string;
  readonly text: string;
}

/** An incident; null: it has no identifier. `instances` are the keys of those that list it. */
export function readTrustIncident(
  item: JsonObject,
  instances: readonly string[],
  pageUrl: string,
): FeedIncident | null {
  const id = toText(member(item, 'id'));
  if (id === '') return null;
  const impacts = toObjects(member(item, 'IncidentImpacts'));
  const updates = incidentUpdates(item);
  const endedAt = endOf(impacts);
  const word = lookUp(STATUSES, wordOf(member(item, 'status')));
  // `Active` tells no more than that it is open.
  const told = word === null || word === 'investigating' ? (updates.at(-1)?.status ?? word) : word;
  return buildIncident({
    key: `incident ${id}`,
    title: titleOf(item, impacts) || 'Incident',
    sourceUrl: linkOf(pageUrl, 'incidents', id),
    components: readComponents(item, instances),
    updates,
    severity: severityOf(impacts),
    // Impacts are ended one by one, and often no event tells of it.
    status: endedAt !== null ? 'resolved' : (told ?? 'investigating'),
    startedAt: startOf(impacts) ?? readTime(member(item, 'startTime')) ?? readTime(member(item, 'createdAt')),
    resolvedAt: endedAt,
  });
}

/** A maintenance; null: it has no identifier or no start. `instances` are the keys of those that list it. */
export function readTrustMaintenance(
  item: JsonObject,
  instances: readonly string[],
  pageUrl: string,
): FeedMaintenance | null {
  const id = toText(member(item, 'id'));
  const startsAt = readTime(member(item, 'plannedStartTime'));
  const events = readEvents(item, 'MaintenanceEvents');
  const last = events.findLast(({ type }) => lookUp(STATES, type) !== null)?.type ?? '';
  if (id === '' || startsAt === null || last === 'canceled' || last === 'cancelled') return null;
  return buildMaintenance({
    key: `maintenance ${id}`,
    title: titleOf(item, toObjects(member(item, 'MaintenanceImpacts'))) || 'Maintenance',
    sourceUrl: linkOf(pageUrl, 'maintenances', id),
    components: readComponents(item, instances),
    updates: events.map(({ at, type, text }) => ({
      at,
      status: lookUp(STATES, type) === 'done' ? 'resolved' : 'identified',
      text,
    })),
    startsAt,
    endsAt: readTime(member(item, 'plannedEndTime')),
    state: lookUp(STATES, last) ?? 'planned',
  });
}

/** An event without a known type stays in the state of the one before it. */
function incidentUpdates(item: JsonObject): FeedUpdate[] {
  let status: FeedUpdate['status'] = 'investigating';
  return readEvents(item, 'IncidentEvents').map(({ at, type, text }) => {
    status = statusOf(type) ?? status;
    return { at, status, text };
  });
}

/** What the type of an event says; null: nothing, as `update` and `correction`. */
function statusOf(type: string): FeedIncident['status'] | null {
  return lookUp(STATUSES, type) ?? EVENT_STATUSES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/** Oldest first. */
function readEvents(item: JsonObject, list: 'IncidentEvents' | 'MaintenanceEvents'): TrustEvent[] {
  return toObjects(member(item, list))
    .flatMap((event): TrustEvent[] => {
      const at = readTime(member(event, 'createdAt'));
      const text = plainText(toText(member(event, 'message')));
      return at === null ? [] : [{ at, type: wordOf(member(event, 'type')), text }];
    })
    .sort((a, b) => a.at - b.at);
}

/** The earliest start of its impacts. */
function startOf(impacts: readonly JsonObject[]): number | null {
  return impacts.reduce<number | null>((before, impact) => {
    const at = readTime(member(impact, 'startTime'));
    return before === null || at === null ? (before ?? at) : Math.min(before, at);
  }, null);
}

/** The latest end where every impact has one. */
function endOf(impacts: readonly JsonObject[]): number | null {
  let latest: number | null = null;
  for (const impact of impacts) {
    const at = readTime(member(impact, 'endTime'));
    if (at === null) return null;
    latest = Math.max(latest ?? 0, at);
  }
  return latest;
}

function severityOf(impacts: readonly JsonObject[]): FeedIncident['severity'] {
  const worst = impacts.reduce((before, impact) => {
    const severity =
      lookUp(SEVERITIES, toWord(member(impact, 'severity'))) ??
      (MAJOR_TYPE.test(wordOf(member(impact, 'type'))) ? 'major' : 'minor');
    return Math.max(before, RANKS.indexOf(severity));
  }, 0);
  return RANKS[worst] ?? 'minor';
}

/** Incidents have no name: what they do, such as "Performance degradation". */
function titleOf(item: JsonObject, impacts: readonly JsonObject[]): string {
  const name = toText(member(item, 'name'));
  if (name !== '') return name;
  const type = impacts.map((impact) => toText(member(impact, 'type'))).find((text) => text !== '') ?? '';
  const words = type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function readComponents(item: JsonObject, instances: readonly string[]): string[] {
  const own = ['instanceKeys', 'serviceKeys'].flatMap((name) => {
    const list = member(item, name);
    return Array.isArray(list) ? list.map(toText) : [];
  });
  return [...instances, ...own];
}

function linkOf(pageUrl: string, path: 'incidents' | 'maintenances', id: string): string {
  return (
    safeLink(`${pageBase(pageUrl)}/${path}/${encodeURIComponent(id.toWellFormed())}`, pageUrl) ?? pageUrl
  );
}

/** `rootCauseIdentified`, `root_cause_identified` and the like as one word. */
function wordOf(value: unknown): string {
  return toWord(value).replaceAll('_', '');
}
