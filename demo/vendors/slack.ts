/** Simulated Slack status: `/api/v2.0.0/current` and `/history`, with times in UTC-7. */
import { asHtml, jsonDocument, newestOf, offsetTime, type Render } from './render.ts';
import type { VendorIncident } from './script.ts';

const TYPES = { minor: 'incident', major: 'outage', critical: 'outage' } as const;
const OFFSET_HOURS = -7;

/** Writes Slack's page. */
export const renderSlack: Render = (_vendor, state, now, baseUrl) => {
  const all = state.incidents.map((incident) => viewIncident(incident, baseUrl));
  const active = all.filter(({ status }) => status === 'active');
  const newest = state.incidents.map(({ updates }) => newestOf(updates).at);
  const current = {
    status: active.length > 0 ? 'active' : 'ok',
    date_created: active[0]?.date_created ?? time(now),
    date_updated: newest.length > 0 ? time(Math.max(...newest)) : time(now),
    active_incidents: active,
  };
  return new Map([
    ['/api/v2.0.0/current', jsonDocument(current)],
    ['/api/v2.0.0/history', jsonDocument(all)],
  ]);
};

function viewIncident(incident: VendorIncident, baseUrl: string) {
  const { id, number, title, severity, components, startedAt, resolvedAt, updates } = incident;
  return {
    // Sometimes a number, sometimes text.
    id: number % 2 === 0 ? number : String(number),
    date_created: time(startedAt),
    date_updated: time(newestOf(updates).at),
    title,
    type: TYPES[severity],
    status: resolvedAt === null ? 'active' : 'resolved',
    url: `${baseUrl}/${time(startedAt).slice(0, 7)}/${id}`,
    services: components,
    notes: updates.map(({ at, text }) => ({ date_created: time(at), body: asHtml(text) })),
  };
}

function time(at: number): string {
  return offsetTime(at, OFFSET_HOURS);
}
