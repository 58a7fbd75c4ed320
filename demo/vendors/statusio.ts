/** Simulated Status.io page: the public status API, which lists only what is open. */
import { isoTime, jsonDocument, type Render, stableId } from './render.ts';
import type { Vendor, VendorIncident, VendorMaintenance, VendorState } from './script.ts';

const CODES = { minor: 300, major: 400, critical: 500 } as const;
const WORDS = {
  100: 'Operational',
  200: 'Planned Maintenance',
  300: 'Degraded Performance',
  400: 'Partial Service Disruption',
  500: 'Service Disruption',
} as const;
const STATES = { investigating: 100, identified: 200, monitoring: 300, resolved: 400 } as const;
const OPERATIONAL = 100;
const MAINTENANCE = 200;

/** Path of the document. */
export function statusIoPath(vendor: Vendor): string {
  return `/1.0/status/${pageIdOf(vendor)}`;
}

/** Writes a Status.io page. */
export const renderStatusIo: Render = (vendor, state, now) => {
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const codes = new Map(vendor.components.map((name) => [name, codeOf(state, name)]));
  const overall = Math.max(OPERATIONAL, ...codes.values()) as keyof typeof WORDS;
  const result = {
    status_overall: { updated: isoTime(now), status: WORDS[overall], status_code: overall },
    status: [...codes].map(([name, code]) => ({
      id: stableId(vendor.slug, name),
      name,
      updated: isoTime(now),
      status: WORDS[code],
      status_code: code,
      containers: [
        {
          id: stableId(vendor.slug, name, 'container'),
          name: 'Everywhere',
          updated: isoTime(now),
          status: WORDS[code],
          status_code: code,
        },
      ],
    })),
    incidents: open.map((incident) => viewIncident(vendor, incident)),
    maintenance: {
      active: state.maintenances.filter(({ state }) => state === 'running').map(viewMaintenance(vendor)),
      upcoming: state.maintenances.filter(({ state }) => state === 'planned').map(viewMaintenance(vendor)),
    },
  };
  return new Map([[statusIoPath(vendor), jsonDocument({ result })]]);
};

function viewIncident(
  vendor: Vendor,
  { id, title, severity, components, updates, startedAt }: VendorIncident,
) {
  return {
    _id: id,
    name: title,
    datetime_open: isoTime(startedAt),
    messages: updates.map(({ at, status, text }) => ({
      details: text,
      state: STATES[status],
      status: CODES[severity],
      datetime: isoTime(at),
    })),
    ...affected(vendor, components),
  };
}

function viewMaintenance(vendor: Vendor) {
  return ({ id, title, text, components, announcedAt, startsAt, endsAt }: VendorMaintenance) => ({
    _id: id,
    name: title,
    datetime_open: isoTime(announcedAt),
    datetime_planned_start: isoTime(startsAt),
    datetime_planned_end: isoTime(endsAt),
    messages: [{ details: text, state: 100, status: MAINTENANCE, datetime: isoTime(announcedAt) }],
    ...affected(vendor, components),
  });
}

function affected(vendor: Vendor, components: readonly string[]) {
  return {
    components_affected: components.map((name) => ({ name, _id: stableId(vendor.slug, name) })),
    containers_affected: components.map((name) => ({
      name: 'Everywhere',
      _id: stableId(vendor.slug, name, 'container'),
    })),
  };
}

function codeOf({ incidents, maintenances }: VendorState, name: string): keyof typeof WORDS {
  const open = incidents.find(
    ({ resolvedAt, components }) => resolvedAt === null && components.includes(name),
  );
  if (open !== undefined) return CODES[open.severity];
  const running = maintenances.some(
    ({ state, components }) => state === 'running' && components.includes(name),
  );
  return running ? MAINTENANCE : OPERATIONAL;
}

function pageIdOf({ slug }: Vendor): string {
  return `${stableId('page', slug)}${stableId(slug, 'page')}`;
}
