/** Simulated status page of Upbeat at `/p/main`: its owner's incidents and maintenance. */
import { isoTime, jsonDocument, type Render } from './render.ts';

/** Path of the page for people. */
export const UPBEAT_PAGE = '/p/main';

/** Writes the page. */
export const renderUpbeat: Render = (vendor, state, _now, baseUrl) => {
  const servicesOf = (components: readonly string[]) =>
    components.map((name) => ({ name, slug: name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') }));
  const document = {
    page: { slug: 'main', title: vendor.name, text: '', url: `${baseUrl}${UPBEAT_PAGE}` },
    status: 'up',
    groups: [],
    incidents: [],
    maintenance: [],
    owner_incidents: state.incidents.map((incident) => ({
      id: `owner-${incident.number}`,
      title: incident.title,
      severity: incident.severity,
      status: incident.updates.at(-1)?.status,
      started_at: isoTime(incident.startedAt),
      resolved_at: incident.resolvedAt === null ? null : isoTime(incident.resolvedAt),
      url: `${baseUrl}${UPBEAT_PAGE}/incidents/owner-${incident.number}`,
      updates: incident.updates.map(({ at, status, text }) => ({ at: isoTime(at), status, text })),
      services: servicesOf(incident.components),
    })),
    owner_maintenances: state.maintenances
      .filter(({ state }) => state !== 'done')
      .map(({ number, title, startsAt, endsAt, state, components }) => ({
        id: `owner-${number}`,
        title,
        state,
        starts_at: isoTime(startsAt),
        ends_at: isoTime(endsAt),
        services: servicesOf(components),
      })),
  };
  return new Map([[`${UPBEAT_PAGE}.json`, jsonDocument(document)]]);
};
