/** What status pages of owners say, in English. */
import type { PageStanding, PageVerdict } from '../../domain/page-verdict.ts';
import { type Moment, say } from './phrase.ts';

const some = (count: number, all: number, said: (are: string) => string): string => {
  if (all === 1) return `The service ${said('is')}.`;
  if (count === all) return `All ${all} services ${said('are')}.`;
  return `${count} of ${all} services ${said(count === 1 ? 'is' : 'are')}.`;
};

/** The words of status pages. */
export const englishStatusPage = {
  notFound: 'Page not found',
  noPage: (slug: string) => `No status page has the address "${slug}".`,
  home: 'All services',
  verdict({ status, counts, watched }: PageVerdict): string {
    if (status === 'unknown')
      return watched === 0
        ? 'No service is monitored here at the moment.'
        : 'No service has been checked yet.';
    if (status === 'maintenance')
      return some(counts.maintenance, watched, (are) => `${are} under maintenance`);
    const words = { up: 'operational', slow: 'slow', down: 'down' } as const;
    return some(counts[status], watched, (are) => `${are} ${words[status]}`);
  },
  empty: 'No service is listed here yet.',
  standing: {
    up: 'Operational',
    slow: 'Slow',
    down: 'Down',
    unknown: 'Unknown',
    maintenance: 'Maintenance',
    paused: 'Paused',
  } as Readonly<Record<PageStanding, string>>,
  services: 'Services',
  selfReported: 'reported by its owner, not verified',
  old: 'last check is old',
  bars: (service: string, uptime: string | null) =>
    uptime === null ? `${service}, 90 days: no checks` : `${service}, 90 days: ${uptime} up`,
  barsFrom: '90 days ago',
  barsTo: 'today',
  upOver: (uptime: string, days: number) => `${uptime} ${days === 1 ? 'today' : `in ${days} days`}`,
  maintenance: 'Maintenance',
  maintenanceRunning: 'In progress',
  maintenanceAhead: 'Scheduled',
  maintenanceFrom: (starts: Moment, ends: Moment | null) =>
    ends === null ? say`from ${starts}` : say`from ${starts} to ${ends}`,
  incidents: 'Incidents',
  runningIncidents: 'Open incidents',
  pastIncidents: 'Past incidents',
  noIncidents: 'No incidents.',
  noSuchIncidents: 'No matching incidents.',
  which: 'Incidents',
  whichService: 'Service',
  anyService: 'all services',
  filter: { all: 'open and past', running: 'open', past: 'past' } as Readonly<
    Record<'all' | 'running' | 'past', string>
  >,
  show: 'Show',
  newer: 'Newer',
  older: 'Older',
  ownChecks: 'Detected by our checks',
  vendor: 'Reported by the vendor',
  from: (starts: Moment) => say`from ${starts}`,
  lasted: (length: string) => `lasted ${length}`,
  lasting: (length: string) => `for ${length}`,
  whole: 'Timeline',
  follow: 'Follow',
  atom: 'Incidents as Atom',
  json: 'This page as JSON',
  madeWith: 'Checked by',
  owner: 'The owner of this page chose its text and services. The statuses come from our checks.',
  details: 'Details',
  others: (count: number) => `and ${count} more`,
};
