/**
 * Salesforce Trust: `https://api.status.salesforce.com/v1/instances`, a list of instances with a status each and, if the
 * response contains them, their incidents and maintenances, which are listed under every instance that they affect. A
 * feed URL replaces this address.
 */
import type { FeedIncident, FeedMaintenance, FeedUpdate } from '../../domain/incident/feed-entry.ts';
import {
  buildIncident,
  buildMaintenance,
  COMMON_SEVERITIES,
  COMMON_STATUSES,
  worstSeverity,
} from '../build-entry.ts';
import { FeedFormatError, type FeedKind, pageBase, safeLink } from '../feed-kind.ts';
import {
  type JsonObject,
  lookUp,
  member,
  objectsAt,
  objectsOf,
  readJsonList,
  readTimed,
  textAt,
  textListAt,
  timeAt,
  wordAt,
} from '../json-shape.ts';
import { plainText } from '../plain-text.ts';

const DOCUMENT = 'https://api.status.salesforce.com/v1/instances';

/**
 * Types of an impact without a severity that are major: `serviceDisruption`, `herokuAppsServiceDisruption`,
 * `ccCartsUnavailable`. All others are degradations.
 */
const MAJOR_TYPE = /^(?!feature).*servicedisruption|unavailable$/;

const STATUSES: Readonly<Record<string, FeedIncident['status']>> = {
  ...COMMON_STATUSES,
  active: 'investigating',
  rootcauseidentified: 'identified',
  mitigated: 'monitoring',
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

/** An incident or maintenance, and the keys of the instances that list it. */
interface Listed {
  readonly item: JsonObject;
  readonly instances: string[];
}

export const salesforce: FeedKind = {
  addresses: ({ pageUrl, feedUrl }) => [
    {
      name: 'instances',
      url: feedUrl ?? DOCUMENT,
      listsOnlyOpen: true,
      read(body) {
        const instances = requireInstances(body);
        return [
          ...listedUnder(instances, 'Incidents').map((listed) => readIncident(listed, pageUrl)),
          ...listedUnder(instances, 'Maintenances').map((listed) => readMaintenance(listed, pageUrl)),
          ...statusIncidents(instances, pageUrl),
        ];
      },
    },
  ],
};

function requireInstances(body: Uint8Array): JsonObject[] {
  const list = objectsOf(readJsonList(body));
  const instances = list.filter((item) => textAt(item, 'key') !== '' && textAt(item, 'status') !== '');
  if (instances.length === 0) throw new FeedFormatError('the document lists no instance');
  return instances;
}

/** By identifier, in the order in which they are first listed. */
function listedUnder(instances: readonly JsonObject[], list: 'Incidents' | 'Maintenances'): Listed[] {
  const listed = new Map<string, Listed>();
  for (const instance of instances) {
    for (const item of objectsAt(instance, list)) {
      const id = textAt(item, 'id');
      const known = listed.get(id);
      if (known !== undefined) known.instances.push(textAt(instance, 'key'));
      else if (id !== '') listed.set(id, { item, instances: [textAt(instance, 'key')] });
    }
  }
  return [...listed.values()];
}

/** One incident for each severity in the statuses of instances that have no list of incidents. */
function statusIncidents(instances: readonly JsonObject[], pageUrl: string): FeedIncident[] {
  const unlisted = instances.filter((instance) => !Array.isArray(member(instance, 'Incidents')));
  return (['major', 'minor'] as const).flatMap((severity) => {
    const components = unlisted
      .filter((instance) => wordAt(instance, 'status').startsWith(`${severity}_incident`))
      .map((instance) => textAt(instance, 'key'));
    if (components.length === 0) return [];
    return [
      buildIncident({
        key: `status ${severity}`,
        title: severity === 'major' ? 'Service disruption' : 'Performance degradation',
        sourceUrl: pageUrl,
        components,
        updates: [],
        severity,
        status: 'investigating',
        startedAt: null,
        resolvedAt: null,
      }),
    ];
  });
}

function readIncident({ item, instances }: Listed, pageUrl: string): FeedIncident {
  const id = textAt(item, 'id');
  const impacts = objectsAt(item, 'IncidentImpacts');
  const updates = incidentUpdates(item);
  const starts = impacts.map((impact) => timeAt(impact, 'startTime')).filter((at) => at !== null);
  const ends = impacts.map((impact) => timeAt(impact, 'endTime')).filter((at) => at !== null);
  // Impacts end one by one, and often no event reports it.
  const endedAt =
    ends.length > 0 && ends.length === impacts.length ? ends.reduce((a, b) => Math.max(a, b)) : null;
  const status = lookUp(STATUSES, typeAt(item, 'status'));
  // `Active` only means that the incident is open.
  const known = status === null || status === 'investigating' ? (updates.at(-1)?.status ?? status) : status;
  return buildIncident({
    key: `incident ${id}`,
    title: titleOf(item, impacts) || 'Incident',
    sourceUrl: linkOf(pageUrl, 'incidents', id),
    components: readComponents(item, instances),
    updates,
    severity: worstSeverity(impacts.map(severityOf)),
    status: endedAt !== null ? 'resolved' : (known ?? 'investigating'),
    startedAt:
      starts.length > 0
        ? starts.reduce((a, b) => Math.min(a, b))
        : (timeAt(item, 'startTime') ?? timeAt(item, 'createdAt')),
    resolvedAt: endedAt,
  });
}

/** Null: the maintenance has no start, or was cancelled. */
function readMaintenance({ item, instances }: Listed, pageUrl: string): FeedMaintenance | null {
  const id = textAt(item, 'id');
  const startsAt = timeAt(item, 'plannedStartTime');
  const events = readEvents(item, 'MaintenanceEvents');
  const last = events.findLast(({ type }) => lookUp(STATES, type) !== null)?.type ?? '';
  if (startsAt === null || last === 'canceled' || last === 'cancelled') return null;
  return buildMaintenance({
    key: `maintenance ${id}`,
    title: titleOf(item, objectsAt(item, 'MaintenanceImpacts')) || 'Maintenance',
    sourceUrl: linkOf(pageUrl, 'maintenances', id),
    components: readComponents(item, instances),
    updates: events.map(({ at, type, text }) => ({
      at,
      status: lookUp(STATES, type) === 'done' ? 'resolved' : 'identified',
      text,
    })),
    startsAt,
    endsAt: timeAt(item, 'plannedEndTime'),
    state: lookUp(STATES, last) ?? 'planned',
  });
}

/** An event whose type is no status, such as `update` or `correction`, keeps the status of the one before it. */
function incidentUpdates(item: JsonObject): FeedUpdate[] {
  let status: FeedUpdate['status'] = 'investigating';
  return readEvents(item, 'IncidentEvents').map(({ at, type, text }) => {
    const found = lookUp(STATUSES, type) ?? EVENT_STATUSES.find(([pattern]) => pattern.test(type))?.[1];
    status = found ?? status;
    return { at, status, text };
  });
}

function readEvents(item: JsonObject, list: 'IncidentEvents' | 'MaintenanceEvents') {
  return readTimed(objectsAt(item, list), 'createdAt', (event) => ({
    type: typeAt(event, 'type'),
    text: plainText(textAt(event, 'message')),
  }));
}

function severityOf(impact: JsonObject): FeedIncident['severity'] {
  const severity = lookUp(COMMON_SEVERITIES, wordAt(impact, 'severity'));
  return severity ?? (MAJOR_TYPE.test(typeAt(impact, 'type')) ? 'major' : 'minor');
}

/** An incident without a name is called by the type of its first impact, such as "Performance degradation". */
function titleOf(item: JsonObject, impacts: readonly JsonObject[]): string {
  const name = textAt(item, 'name');
  if (name !== '') return name;
  const type = impacts.map((impact) => textAt(impact, 'type')).find((text) => text !== '') ?? '';
  const words = type.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function readComponents(item: JsonObject, instances: readonly string[]): string[] {
  return [...instances, ...textListAt(item, 'instanceKeys'), ...textListAt(item, 'serviceKeys')];
}

function linkOf(pageUrl: string, path: 'incidents' | 'maintenances', id: string): string {
  const url = `${pageBase(pageUrl)}/${path}/${encodeURIComponent(id.toWellFormed())}`;
  return safeLink(url, pageUrl) ?? pageUrl;
}

/** `rootCauseIdentified`, `root_cause_identified` and the like as one word. */
function typeAt(item: JsonObject, name: string): string {
  return wordAt(item, name).replaceAll('_', '');
}
