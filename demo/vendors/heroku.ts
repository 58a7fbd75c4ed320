/** Simulated Heroku status: `/api/v4/current-status` and `/api/v4/incidents`. */
import { isoTime, jsonDocument, newestOf, type Render } from './render.ts';
import type { VendorIncident } from './script.ts';

const COLOURS = { minor: 'yellow', major: 'red', critical: 'red' } as const;
const SYSTEMS = ['Apps', 'Data', 'Tools'];

/** Writes Heroku's page. */
export const renderHeroku: Render = (_vendor, state, _now, baseUrl) => {
  const open = state.incidents.filter(({ resolvedAt }) => resolvedAt === null);
  const view = (incident: VendorIncident) => viewIncident(incident, baseUrl);
  const status = SYSTEMS.map((system) => {
    const worst = open.find(({ components }) => components.includes(system));
    return { system, status: worst === undefined ? 'green' : COLOURS[worst.severity] };
  });
  const current = { status, incidents: open.map(view), scheduled: [] };
  return new Map([
    ['/api/v4/current-status', jsonDocument(current)],
    ['/api/v4/incidents', jsonDocument(state.incidents.map(view))],
  ]);
};

function viewIncident(incident: VendorIncident, baseUrl: string) {
  const { number, title, severity, components, startedAt, updates } = incident;
  const newest = newestOf(updates);
  return {
    id: number,
    title,
    state: newest.status,
    // Stays false when it is resolved.
    resolved: false,
    created_at: isoTime(startedAt),
    updated_at: isoTime(newest.at),
    full_url: `${baseUrl}/incidents/${number}`,
    systems: components.map((name) => ({ name, status: COLOURS[severity], services: [name] })),
    tags: ['EMEA'],
    updates: updates.toReversed().map(({ at, status, text }, index) => ({
      id: number * 10 + updates.length - index,
      incident_id: number,
      created_at: isoTime(at),
      updated_at: isoTime(at),
      contents: text,
      update_type: status === 'investigating' ? 'issue' : status,
    })),
  };
}
