/** Simulated pages of Atlassian Statuspage and of incident.io, which imitates its documents: `/api/v2/*.json`. */
import { asHtml, isoTime, jsonDocument, newestOf, type Render, stableId } from './render.ts';
import type { Vendor, VendorIncident, VendorMaintenance, VendorState } from './script.ts';

const LISTED = 50;
const PART_STATUS = { minor: 'degraded_performance', major: 'partial_outage', critical: 'major_outage' };
const INDICATORS = ['none', 'minor', 'major', 'critical'];
const MAINTENANCE_STATUS = { planned: 'scheduled', running: 'in_progress', done: 'completed' };

/** Writes a Statuspage. */
export const renderStatuspage: Render = (vendor, state, now, baseUrl) => {
  const pageId = stableId('page', vendor.slug);
  const page = {
    id: pageId,
    name: vendor.name,
    url: baseUrl,
    time_zone: 'Etc/UTC',
    // Changes with every request.
    updated_at: isoTime(now),
  };
  const incidents = state.incidents
    .slice(0, LISTED)
    .map((incident) => viewIncident(vendor, incident, baseUrl));
  const maintenances = state.maintenances.map((one) => viewMaintenance(vendor, one, baseUrl));
  const open = incidents.filter(({ resolved_at }) => resolved_at === null);
  const upcoming = maintenances.filter(({ status }) => status === 'scheduled');
  const active = maintenances.filter(({ status }) => status === 'in_progress');
  const components = vendor.components.map((name) => viewComponent(vendor, name, state));
  const status = { indicator: indicatorOf(state), description: 'A word for people' };
  const at = (name: string, content: object) =>
    [`/api/v2/${name}.json`, jsonDocument({ page, ...content })] as const;
  return new Map([
    at('summary', {
      status,
      components,
      incidents: open,
      scheduled_maintenances: [...active, ...upcoming],
    }),
    at('incidents', { incidents }),
    at('scheduled-maintenances', { scheduled_maintenances: maintenances }),
  ]);
};

function viewIncident(vendor: Vendor, incident: VendorIncident, baseUrl: string) {
  const { id, title, severity, startedAt, resolvedAt, updates, components } = incident;
  const newest = newestOf(updates);
  return {
    id,
    name: title,
    status: newest.status,
    impact: severity,
    created_at: isoTime(updates[0]?.at ?? startedAt),
    started_at: isoTime(startedAt),
    updated_at: isoTime(newest.at),
    monitoring_at: timeOrNull(updates.find(({ status }) => status === 'monitoring')?.at),
    resolved_at: timeOrNull(resolvedAt),
    shortlink: `${baseUrl}/incidents/${id}`,
    page_id: stableId('page', vendor.slug),
    incident_updates: updates.toReversed().map(({ at, status, text }) => ({
      ...viewUpdate(stableId(id, at), at, status, text),
      incident_id: id,
      affected_components:
        components.length === 0
          ? null
          : components.map((name) => ({
              code: stableId(vendor.slug, name),
              name,
              old_status: 'operational',
              new_status: status === 'resolved' ? 'operational' : PART_STATUS[severity],
            })),
    })),
    components: components.map((name) => ({
      id: stableId(vendor.slug, name),
      name,
      status: resolvedAt === null ? PART_STATUS[severity] : 'operational',
      group: false,
      group_id: null,
    })),
  };
}

function viewMaintenance(vendor: Vendor, maintenance: VendorMaintenance, baseUrl: string) {
  const { id, text, components, announcedAt, state } = maintenance;
  return {
    ...viewPlan(maintenance),
    id,
    monitoring_at: null,
    shortlink: `${baseUrl}/incidents/${id}`,
    page_id: stableId('page', vendor.slug),
    incident_updates: [
      {
        ...viewUpdate(stableId(id, announcedAt), announcedAt, 'scheduled', text),
        incident_id: id,
        affected_components: null,
      },
    ],
    components: components.map((name) => ({
      id: stableId(vendor.slug, name),
      name,
      status: state === 'running' ? 'under_maintenance' : 'operational',
      group: false,
      group_id: null,
    })),
  };
}

/** What both formats say of a maintenance. */
function viewPlan({ title, announcedAt, startsAt, endsAt, state }: VendorMaintenance) {
  return {
    name: title,
    status: MAINTENANCE_STATUS[state],
    impact: 'maintenance',
    created_at: isoTime(announcedAt),
    updated_at: isoTime({ planned: announcedAt, running: startsAt, done: endsAt }[state]),
    resolved_at: state === 'done' ? isoTime(endsAt) : null,
    scheduled_for: isoTime(startsAt),
    scheduled_until: isoTime(endsAt),
  };
}

/** An update as both formats list it. */
function viewUpdate(id: string, at: number, status: string, text: string) {
  const time = isoTime(at);
  return { id, status, body: asHtml(text), created_at: time, updated_at: time, display_at: time };
}

function viewComponent(vendor: Vendor, name: string, { incidents }: VendorState) {
  const worst = incidents.find(
    ({ components, resolvedAt }) => resolvedAt === null && components.includes(name),
  );
  return {
    id: stableId(vendor.slug, name),
    name,
    status: worst === undefined ? 'operational' : PART_STATUS[worst.severity],
    position: vendor.components.indexOf(name) + 1,
    group: false,
    group_id: null,
    only_show_if_degraded: false,
  };
}

function indicatorOf({ incidents }: VendorState): string {
  const open = incidents.filter(({ resolvedAt }) => resolvedAt === null);
  return INDICATORS[Math.max(0, ...open.map(({ severity }) => INDICATORS.indexOf(severity)))] ?? 'none';
}

function timeOrNull(at: number | null | undefined): string | null {
  return at == null ? null : isoTime(at);
}

/** Writes an incident.io page: documents like Statuspage's, with empty lists left out or null. */
export const renderIncidentIo: Render = (vendor, state, now, baseUrl) => {
  const page = {
    id: ulidOf(`page ${vendor.slug}`),
    name: vendor.name,
    url: baseUrl,
    updated_at: isoTime(now),
  };
  const incidents = state.incidents.slice(0, 25).map(viewIncidentIo);
  const open = incidents.filter(({ resolved_at }) => resolved_at === null);
  const maintenances = state.maintenances.map(viewMaintenanceIo);
  const ahead = maintenances.filter(({ status }) => status !== 'completed');
  const components = vendor.components.map((name, position) => ({
    id: ulidOf(`${vendor.slug} ${name}`),
    name,
    status: 'operational',
    position,
  }));
  const indicator = open.some(({ impact }) => impact === 'major')
    ? 'major'
    : open.length > 0
      ? 'minor'
      : 'none';
  const status = { indicator, description: 'A word for people' };
  const at = (name: string, content: object) =>
    [`/api/v2/${name}.json`, jsonDocument({ page, ...content })] as const;
  return new Map([
    // The summary leaves out empty lists; in the other documents they are null.
    at('summary', {
      status,
      components,
      ...(open.length === 0 ? {} : { incidents: open }),
      ...(ahead.length === 0 ? {} : { scheduled_maintenances: ahead }),
    }),
    at('incidents', { incidents: orNull(incidents) }),
    at('scheduled-maintenances', { scheduled_maintenances: orNull(maintenances) }),
  ]);
};

function viewIncidentIo({ id, title, severity, startedAt, resolvedAt, updates }: VendorIncident) {
  const newest = newestOf(updates);
  return {
    id: ulidOf(id),
    name: title,
    status: newest.status,
    impact: severity === 'minor' ? 'minor' : 'major',
    created_at: isoTime(startedAt),
    updated_at: isoTime(newest.at),
    resolved_at: timeOrNull(resolvedAt),
    shortlink: null,
    incident_updates: updates
      .toReversed()
      .map(({ at, status, text }) => viewUpdate(ulidOf(`${id} ${at}`), at, status, text)),
  };
}

function viewMaintenanceIo(maintenance: VendorMaintenance) {
  const { id, text, announcedAt } = maintenance;
  return {
    ...viewPlan(maintenance),
    id: ulidOf(id),
    shortlink: null,
    incident_updates: [viewUpdate(ulidOf(`${id} ${announcedAt}`), announcedAt, 'scheduled', text)],
  };
}

/** Text of the form of a ULID: 26 characters that begin with `01`. */
function ulidOf(text: string): string {
  return `01${stableId(text)}${stableId(text, 'more')}`.toUpperCase();
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
