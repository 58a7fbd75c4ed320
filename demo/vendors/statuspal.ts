/** Simulated page of Statuspal: `/api/v2/status_pages/main/summary`, which lists what is open, and times without a zone. */
import { isoTime, jsonDocument, type Render } from './render.ts';
import type { VendorMaintenance } from './script.ts';

const TYPES = { minor: 'minor', major: 'major', critical: 'major' } as const;

/** Path of the document. */
export const STATUSPAL_PATH = '/api/v2/status_pages/main/summary';

/** Writes the summary. */
export const renderStatuspal: Render = (vendor, state, _now, baseUrl) => {
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const idsOf = (components: readonly string[]) =>
    components.map((name) => vendor.components.indexOf(name) + 1);
  const typeOf = (name: string) => {
    const incident = open.find(({ components }) => components.includes(name));
    return incident === undefined ? null : TYPES[incident.severity];
  };
  const viewMaintenance = ({ number, title, components, startsAt, endsAt }: VendorMaintenance) => ({
    id: number,
    title,
    url: `${baseUrl}/maintenances/${number}`,
    starts_at: localTime(startsAt),
    ends_at: localTime(endsAt),
    service_ids: idsOf(components),
    updates: [],
  });
  const inState = (wanted: VendorMaintenance['state']) =>
    state.maintenances.filter(({ state }) => state === wanted).map(viewMaintenance);
  const summary = {
    services: vendor.components.map((name, index) => ({
      id: index + 1,
      name,
      children: [],
      current_incident_type: typeOf(name),
    })),
    status_page: {
      name: vendor.name,
      subdomain: 'main',
      current_incident_type: open.length > 0 ? 'minor' : null,
    },
    incidents: open.map(({ number, title, severity, components, startedAt, updates }) => ({
      id: number,
      type: TYPES[severity],
      title,
      url: `${baseUrl}/incidents/${number}`,
      starts_at: localTime(startedAt),
      ends_at: null,
      service_ids: idsOf(components),
      updates: updates.toReversed().map(({ at, status, text }) => ({
        id: at,
        type: status,
        description: text,
        posted_at: localTime(at),
      })),
    })),
    maintenances: inState('running'),
    upcoming_maintenances: inState('planned'),
  };
  return new Map([[STATUSPAL_PATH, jsonDocument(summary)]]);
};

/** `2026-09-20T10:00:00`, which is UTC. */
function localTime(at: number): string {
  return isoTime(at).slice(0, 19);
}
