/** Simulated Instatus page: `/summary.json`, which leaves out empty lists. */
import { isoTime, jsonDocument, newestOf, type Render } from './render.ts';

const IMPACTS = { minor: 'PARTIALOUTAGE', major: 'MAJOROUTAGE', critical: 'MAJOROUTAGE' };

/** Writes an Instatus page. */
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
      // In minutes.
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
  return new Map([
    ['/summary.json', summary],
    ['/v3/summary.json', summary],
  ]);
};
