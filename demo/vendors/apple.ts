/** Simulated system status of Apple: `data/system_status_en_US.js`, in which an event stands under each of its services. */
import { jsonDocument, type Render } from './render.ts';
import type { VendorIncident, VendorMaintenance } from './script.ts';

const MAINTENANCE_STATES = { planned: 'upcoming', running: 'ongoing', done: 'completed' } as const;

/** Writes Apple's system status. */
export const renderApple: Render = (vendor, state) => {
  const events = [...state.incidents.map(viewIncident), ...state.maintenances.map(viewMaintenance)];
  const services = vendor.components.map((serviceName) => ({
    serviceName,
    redirectUrl: null,
    events: events.filter(({ affectedServices }) => affectedServices.includes(serviceName)),
  }));
  return new Map([['/data/system_status_en_US.js', jsonDocument({ drMessage: null, services })]]);
};

function viewIncident({
  number,
  title,
  severity,
  components,
  startedAt,
  resolvedAt,
  updates,
}: VendorIncident) {
  return {
    messageId: String(number),
    statusType: severity === 'minor' ? 'Issue' : 'Outage',
    message: title,
    datePosted: postedAt(updates[0]?.at ?? startedAt),
    epochStartDate: startedAt,
    epochEndDate: resolvedAt,
    usersAffected: severity === 'minor' ? 'Some users are affected' : 'All users are affected',
    affectedServices: components,
    eventStatus: resolvedAt === null ? 'ongoing' : 'resolved',
  };
}

function viewMaintenance({
  number,
  title,
  components,
  announcedAt,
  startsAt,
  endsAt,
  state,
}: VendorMaintenance) {
  return {
    messageId: String(number),
    statusType: 'Maintenance',
    message: title,
    datePosted: postedAt(announcedAt),
    epochStartDate: startsAt,
    epochEndDate: endsAt,
    usersAffected: 'Some users are affected',
    affectedServices: components,
    eventStatus: MAINTENANCE_STATES[state],
  };
}

/** `09/20/2026 10:00 UTC`: without seconds. */
function postedAt(at: number): string {
  const text = new Date(at).toISOString();
  return `${text.slice(5, 7)}/${text.slice(8, 10)}/${text.slice(0, 4)} ${text.slice(11, 16)} UTC`;
}
