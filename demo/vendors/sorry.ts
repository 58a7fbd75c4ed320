/** Simulated page of Sorry: `/api/v1/notices` and the state of the page. */
import { asHtml, isoTime, jsonDocument, type Render } from './render.ts';
import type { ToldStatus } from './script.ts';

const WORDS: Readonly<Record<ToldStatus, string>> = {
  investigating: 'investigating',
  identified: 'identified',
  monitoring: 'recovering',
  resolved: 'resolved',
};
const MAINTENANCE_STATES = { planned: 'scheduled', running: 'underway', done: 'complete' } as const;

/** Writes the page. */
export const renderSorry: Render = (vendor, state, _now, baseUrl) => {
  const partsOf = (components: readonly string[]) =>
    components.map((name) => ({ id: vendor.components.indexOf(name) + 1, name, state: 'degraded' }));
  const unplanned = state.incidents.map((incident) => ({
    id: incident.id,
    type: 'unplanned',
    state: WORDS[incident.updates.at(-1)?.status ?? 'investigating'],
    subject: incident.title,
    link: `${baseUrl}/notices/${incident.id}`,
    began_at: isoTime(incident.startedAt),
    ended_at: incident.resolvedAt === null ? null : isoTime(incident.resolvedAt),
    created_at: isoTime(incident.updates[0]?.at ?? incident.startedAt),
    components: partsOf(incident.components),
    updates: incident.updates.toReversed().map(({ at, status, text }) => ({
      id: at,
      state: WORDS[status],
      content: asHtml(text),
      created_at: isoTime(at),
    })),
  }));
  const planned = state.maintenances.map(
    ({ id, title, text, components, announcedAt, startsAt, endsAt, state }) => ({
      id,
      type: 'planned',
      state: MAINTENANCE_STATES[state],
      subject: title,
      synopsis: text,
      link: `${baseUrl}/notices/${id}`,
      begins_at: isoTime(startsAt),
      ends_at: isoTime(endsAt),
      began_at: state === 'planned' ? null : isoTime(startsAt),
      ended_at: state === 'done' ? isoTime(endsAt) : null,
      created_at: isoTime(announcedAt),
      components: partsOf(components),
      updates: [],
    }),
  );
  const isBad = state.incidents.some(({ resolvedAt }) => resolvedAt === null);
  return new Map([
    ['/api/v1/notices', jsonDocument({ notices: [...unplanned, ...planned] })],
    [
      '/api/v1/status',
      jsonDocument({ page: { id: 1, name: vendor.name, state: isBad ? 'degraded' : 'operational' } }),
    ],
  ]);
};
