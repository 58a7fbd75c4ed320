/** Simulated page of Nintendo: windows of outages and maintenances in Pacific time. */
import { jsonDocument, type Render } from './render.ts';

/** Where the page is. */
export const NINTENDO_PAGE = '/netinfo/en_US/index.html';

/** Writes the status. */
export const renderNintendo: Render = (_vendor, state) => {
  const item = (title: string, components: readonly string[], from: number, to: number | null) => ({
    platform: components,
    software_title: title,
    message: '',
    free_write: '',
    begin: wallTime(from),
    ...(to === null ? {} : { end: wallTime(to) }),
    event_status: '0',
    services: [],
  });
  const document = jsonDocument({
    lang: 'en_US',
    categories: [],
    operational_statuses: state.incidents.map(({ title, components, startedAt, resolvedAt }) =>
      item(title, components, startedAt, resolvedAt),
    ),
    temporary_maintenances: state.maintenances.map(({ title, components, startsAt, endsAt }) =>
      item(title, components, startsAt, endsAt),
    ),
  });
  return new Map([['/netinfo/en_US/status.json', document]]);
};

const DAY = new Intl.DateTimeFormat('en-US', { timeZone: 'America/Los_Angeles', dateStyle: 'full' });
const TIME = new Intl.DateTimeFormat('en-US', { timeZone: 'America/Los_Angeles', timeStyle: 'medium' });

/** `Sunday, September 20, 2026  3 :00:00 AM` */
function wallTime(at: number): string {
  return `${DAY.format(at)}  ${TIME.format(at)
    .replace(':', ' :')
    .replace(/\s(?=[AP]M)/, ' ')}`;
}
