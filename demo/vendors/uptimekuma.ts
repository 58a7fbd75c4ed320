/** Simulated page of Uptime Kuma at `/status/main`: monitors, all of them well, pinned incidents and maintenance. */
import { asMarkdown, jsonDocument, newestOf, type Render } from './render.ts';

const STYLES = { minor: 'warning', major: 'danger', critical: 'danger' } as const;
const MAINTENANCE_STATES = { planned: 'scheduled', running: 'under-maintenance', done: 'ended' } as const;

/** Path of the page for people. */
export const UPTIMEKUMA_PAGE = '/status/main';

/** Writes the page. Times have no zone; those of maintenance are on the wall of `timezoneOffset`. */
export const renderUptimeKuma: Render = (vendor, state, now) => {
  const page = {
    config: { slug: 'main', title: vendor.name, published: true },
    incidents: state.incidents
      .filter(({ resolvedAt }) => resolvedAt === null)
      .map(({ number, title, severity, startedAt, updates }) => ({
        id: number,
        title,
        content: asMarkdown(newestOf(updates).text),
        style: STYLES[severity],
        createdDate: wallTime(startedAt),
        lastUpdatedDate: wallTime(newestOf(updates).at),
        pin: true,
      })),
    publicGroupList: [
      {
        id: 1,
        name: 'Everything',
        weight: 0,
        monitorList: vendor.components.map((name, index) => ({ id: index + 1, name, type: 'http' })),
      },
    ],
    maintenanceList: state.maintenances.map(({ number, title, text, startsAt, endsAt, state }) => ({
      id: number,
      title,
      description: text,
      strategy: 'single',
      active: state !== 'done',
      status: MAINTENANCE_STATES[state],
      timezoneOffset: '+00:00',
      timeslotList: [{ startDate: wallTime(startsAt), endDate: wallTime(endsAt) }],
    })),
  };
  const beats = vendor.components.map((_, index) => [
    index + 1,
    [{ status: 1, time: wallTime(now), ping: 40 }],
  ]);
  return new Map([
    ['/api/status-page/main', jsonDocument(page)],
    [
      '/api/status-page/heartbeat/main',
      jsonDocument({ heartbeatList: Object.fromEntries(beats), uptimeList: {} }),
    ],
  ]);
};

/** `2026-09-20 10:00:00.000` */
function wallTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ').slice(0, 23);
}
