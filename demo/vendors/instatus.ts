/** Simulated Instatus page: `/summary.json`, whose lists are absent where they are empty, and the components. */
import { isoTime, jsonDocument, newestOf, type Render, stableId } from './render.ts';

const IMPACTS = { minor: 'PARTIALOUTAGE', major: 'MAJOROUTAGE', critical: 'MAJOROUTAGE' };

/** Writes the page. */
export const renderInstatus: Render = (vendor, state, _now, baseUrl) => {
  const incidents = state.incidents
    .filter(({ resolvedAt }) => resolvedAt === null)
    .map(({ id, title, severity, startedAt, updates }) => {
      const newest = newestOf(updates);
      return {
        id,
        name: title,
        started: isoTime(startedAt),
        status: newest.status.toUpperCase(),
        impact: IMPACTS[severity],
        url: `${baseUrl}/${id}`,
        updatedAt: isoTime(newest.at),
      };
    });
  const maintenances = state.maintenances
    .filter(({ state }) => state !== 'done')
    .map(({ id, title, startsAt, endsAt, state }) => ({
      id,
      name: title,
      start: isoTime(startsAt),
      status: state === 'planned' ? 'NOTSTARTEDYET' : 'INPROGRESS',
      // Minutes as text.
      duration: String((endsAt - startsAt) / 60_000),
      url: `${baseUrl}/maintenance/${id}`,
    }));
  const running = maintenances.some(({ status }) => status === 'INPROGRESS');
  const calm = running ? 'UNDERMAINTENANCE' : 'UP';
  const isOneMajor = incidents.length === 1 && incidents[0]?.impact === 'MAJOROUTAGE';
  const disturbed = isOneMajor ? 'ONEMAJOROUTAGE' : 'HASISSUES';
  const status = incidents.length > 0 ? disturbed : calm;
  const summary = jsonDocument({
    page: { name: vendor.name, url: baseUrl, status },
    ...(incidents.length > 0 ? { activeIncidents: incidents } : {}),
    ...(maintenances.length > 0 ? { activeMaintenances: maintenances } : {}),
  });
  const components = jsonDocument({
    components: vendor.components.map((name) => ({
      id: stableId(vendor.slug, name),
      name,
      description: '',
      status: 'OPERATIONAL',
      group: null,
    })),
  });
  return new Map([
    ['/summary.json', summary],
    ['/v3/summary.json', summary],
    ['/v2/components.json', components],
    ['/v3/components.json', components],
  ]);
};
