/** Simulated incident.io page: the Statuspage-like documents, with empty lists left out or null. */
import { asHtml, isoTime, jsonDocument, newestOf, type Render, stableId } from './render.ts';
import type { VendorIncident, VendorMaintenance } from './script.ts';

const MAINTENANCE_STATUS = { planned: 'scheduled', running: 'in_progress', done: 'completed' };

/** Writes the page. */
export const renderIncidentIo: Render = (vendor, state, now, baseUrl) => {
  const page = {
    id: ulidOf(`page ${vendor.slug}`),
    name: vendor.name,
    url: baseUrl,
    updated_at: isoTime(now),
  };
  const incidents = state.incidents.slice(0, 25).map(viewIncident);
  const open = incidents.filter(({ resolved_at }) => resolved_at === null);
  const maintenances = state.maintenances.map(viewMaintenance);
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
    // The summary leaves empty lists out; the other documents have null in their place.
    at('summary', {
      status,
      components,
      ...(open.length === 0 ? {} : { incidents: open }),
      ...(ahead.length === 0 ? {} : { scheduled_maintenances: ahead }),
    }),
    at('status', { status }),
    at('components', { components }),
    at('incidents', { incidents: orNull(incidents) }),
    at('scheduled-maintenances', { scheduled_maintenances: orNull(maintenances) }),
  ]);
};

function viewIncident({ id, title, severity, startedAt, resolvedAt, updates }: VendorIncident) {
  const newest = newestOf(updates);
  return {
    id: ulidOf(id),
    name: title,
    status: newest.status,
    impact: severity === 'minor' ? 'minor' : 'major',
    created_at: isoTime(startedAt),
    updated_at: isoTime(newest.at),
    resolved_at: resolvedAt === null ? null : isoTime(resolvedAt),
    shortlink: null,
    incident_updates: updates.toReversed().map(({ at, status, text }) => ({
      id: ulidOf(`${id} ${at}`),
      status,
      body: asHtml(text),
      created_at: isoTime(at),
      updated_at: isoTime(at),
      display_at: isoTime(at),
    })),
  };
}

function viewMaintenance({ id, title, text, announcedAt, startsAt, endsAt, state }: VendorMaintenance) {
  return {
    id: ulidOf(id),
    name: title,
    status: MAINTENANCE_STATUS[state],
    impact: 'maintenance',
    created_at: isoTime(announcedAt),
    updated_at: isoTime({ planned: announcedAt, running: startsAt, done: endsAt }[state]),
    resolved_at: state === 'done' ? isoTime(endsAt) : null,
    shortlink: null,
    scheduled_for: isoTime(startsAt),
    scheduled_until: isoTime(endsAt),
    incident_updates: [
      {
        id: ulidOf(`${id} ${announcedAt}`),
        status: 'scheduled',
        body: asHtml(text),
        created_at: isoTime(announcedAt),
        display_at: isoTime(announcedAt),
      },
    ],
  };
}

/** Looks like a ULID: 26 characters that begin with `01`. */
function ulidOf(text: string): string {
  return `01${stableId(text)}${stableId(text, 'more')}`.toUpperCase();
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list;
}
