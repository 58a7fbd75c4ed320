/** Simulated page of Cachet 2: `/api/v1` with components, incidents and schedules, and times without a zone. */
import { asMarkdown, isoTime, jsonDocument, type Render } from './render.ts';
import type { ToldStatus } from './script.ts';

const STATUSES: Readonly<Record<ToldStatus, number>> = {
  investigating: 1,
  identified: 2,
  monitoring: 3,
  resolved: 4,
};
const MAINTENANCE_STATES = { planned: 0, running: 1, done: 2 } as const;
const OPERATIONAL = 1;

/** Writes the page. An incident concerns one component, the first one; 0 is none. */
export const renderCachet: Render = (vendor, state, _now, baseUrl) => {
  const idOf = (name: string | undefined) => vendor.components.indexOf(name ?? '') + 1;
  const components = vendor.components.map((name) => ({ id: idOf(name), name, status: OPERATIONAL }));
  const incidents = state.incidents.map(({ number, title, components, startedAt, updates }) => ({
    id: number,
    component_id: idOf(components[0]),
    name: title,
    status: STATUSES[updates[0]?.status ?? 'investigating'],
    latest_status: STATUSES[updates.at(-1)?.status ?? 'investigating'],
    message: '',
    occurred_at: wallTime(startedAt),
    created_at: wallTime(updates[0]?.at ?? startedAt),
    updated_at: wallTime(updates.at(-1)?.at ?? startedAt),
    permalink: `${baseUrl}/incidents/${number}`,
    updates: updates.map(({ at, status, text }, index) => ({
      id: index + 1,
      incident_id: number,
      status: STATUSES[status],
      message: asMarkdown(text),
      created_at: wallTime(at),
    })),
  }));
  const schedules = state.maintenances.map(
    ({ number, title, text, components, startsAt, endsAt, state }) => ({
      id: number,
      name: title,
      message: text,
      status: MAINTENANCE_STATES[state],
      scheduled_at: wallTime(startsAt),
      completed_at: wallTime(endsAt),
      components: components.map((name) => ({ component_id: idOf(name), name })),
    }),
  );
  return new Map([
    ['/api/v1/components', jsonDocument({ data: components })],
    ['/api/v1/incidents', jsonDocument({ data: incidents })],
    ['/api/v1/schedules', jsonDocument({ data: schedules })],
  ]);
};

/** `2026-09-20 10:00:00` */
function wallTime(at: number): string {
  return isoTime(at).slice(0, 19).replace('T', ' ');
}
