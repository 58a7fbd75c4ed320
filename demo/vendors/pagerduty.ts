/** Simulated status page of PagerDuty: `/api/posts`, which refer to the words and services of two other documents. */
import { asHtml, jsonDocument, type Render } from './render.ts';
import type { ToldUpdate } from './script.ts';

/** Words of the page by their identifiers. */
const WORDS = {
  S1: 'investigating',
  S2: 'identified',
  S3: 'monitoring',
  S4: 'resolved',
  M1: 'scheduled',
  M2: 'in progress',
  M3: 'completed',
  V1: 'minor',
  V2: 'major',
  V3: 'critical',
} as const;
const MAINTENANCE_STATES = { planned: 'M1', running: 'M2', done: 'M3' } as const;

/** Writes the page. Times are epoch milliseconds. */
export const renderPagerDuty: Render = (vendor, state) => {
  const impactsOf = (components: readonly string[]) =>
    components.map((name) => ({ service_id: `P${vendor.components.indexOf(name)}`, severity_id: null }));
  const incidents = state.incidents.map(
    ({ id, title, severity, components, startedAt, resolvedAt, updates }) => {
      const viewUpdate = ({ at, status, text }: ToldUpdate) => ({
        id: `${id}-${at}`,
        reported_at: at,
        message: asHtml(text),
        status_id: idOf(status),
        severity_id: idOf(severity),
        impacts: impactsOf(components),
      });
      const told = updates.map(viewUpdate);
      return {
        id,
        title,
        post_type: 'incident',
        starts_at: startedAt,
        ends_at: resolvedAt,
        first_update_at: updates[0]?.at,
        latest_update: told.at(-1),
        updates: told,
      };
    },
  );
  const maintenances = state.maintenances.map(
    ({ id, title, text, components, announcedAt, startsAt, endsAt, state }) => ({
      id,
      title,
      post_type: 'maintenance',
      starts_at: startsAt,
      ends_at: endsAt,
      first_update_at: announcedAt,
      latest_update: {
        id: `${id}-1`,
        reported_at: announcedAt,
        message: asHtml(text),
        status_id: MAINTENANCE_STATES[state],
        severity_id: null,
        impacts: impactsOf(components),
      },
      updates: [],
    }),
  );
  const words = Object.entries(WORDS).map(([id, name]) => ({ id, name }));
  const services = vendor.components.map((name, index) => ({ id: `P${index}`, display_name: name }));
  return new Map([
    ['/api/posts', jsonDocument({ posts: [...incidents, ...maintenances] })],
    ['/api/post_enums', jsonDocument({ post_enums: words })],
    ['/api/services', jsonDocument({ services })],
  ]);
};

function idOf(word: string): string | null {
  return Object.entries(WORDS).find(([, name]) => name === word)?.[0] ?? null;
}
