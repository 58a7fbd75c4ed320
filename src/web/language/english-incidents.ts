/** Texts of the pages of incidents, maintenance and the heat map, and of the dashboard's pages about posts, in English. */
import type { Incident, IncidentStatus } from '../../domain/incident/incident.ts';
import type { CellLevel } from '../../domain/picture.ts';
import { type Moment, phraseOf, type WordOf } from '../../language/phrase.ts';

/** Texts of the dashboard's pages about the posts of owners, in English. */

export const englishPosts = {
  incidents: 'Incidents',
  incidentsLead:
    'What you say about your services and status pages. It stands beside what checks see, and never changes it.',
  noIncidents: 'You have written no incident yet.',
  newIncident: 'Write an incident',
  title: 'Title',
  text: 'Text (Markdown)',
  update: 'Update (Markdown)',
  status: 'Status',
  severity: 'Severity',
  concerns: 'Affects',
  pageNamed: (title: string) => `status page ${title}`,
  nothingYet: 'You have no service and no status page yet.',
  publish: 'Publish',
  preview: 'Preview',
  change: 'Change',
  changeOf: (title: string) => `Change ${title}`,
  maintenances: 'Maintenance',
  maintenancesLead:
    'While maintenance runs, alerts about its services are held, and incidents of checks have the severity maintenance.',
  noMaintenances: 'You have announced no maintenance.',
  newMaintenance: 'Announce maintenance',
  started: 'Started (UTC; leave empty for now)',
  starts: 'Starts (empty: now)',
  startsFirst: 'Starts',
  zone: 'Time zone of the start',
  duration: 'Duration, such as 90m or 2h',
  repeats: 'Repeats',
  way: {
    once: 'never',
    daily: 'daily',
    weekly: 'weekly',
    monthly: 'monthly',
    rule: 'by an iCalendar rule',
  },
  onDays: 'On these days (none: that of the start)',
  onMonthDay: 'On day of the month',
  asStart: 'that of the start',
  lastDayOfMonth: 'the last day',
  recurrence: 'Rule (RRULE)',
  weeklyOn: (days: string) => `weekly on ${days}`,
  monthlyOn: (day: string) => `monthly on ${/\d/.test(day) ? `day ${day}` : day}`,
  announce: 'Announce',
  runs: 'in progress',
  planned: 'scheduled',
  over: 'over',
  endNow: 'End now',
  extend: 'Extend by 30 minutes',
  skip: 'Skip the next one',
  withdraw: 'Withdraw',
};

export const englishMaintenance = {
  title: 'Maintenance of all services',
  heading: 'Maintenance',
  lead: 'Work that vendors and owners have announced. Failures during that time are expected.',
  lists: 'Which maintenance',
  all: 'All',
  running: 'In progress',
  planned: 'Upcoming',
  past: 'Past',
  none: {
    running: 'No maintenance is in progress.',
    planned: 'No maintenance is planned.',
    past: 'There has been no maintenance yet.',
  },
  more: {
    running: 'All that is in progress',
    planned: 'All that is upcoming',
    past: 'All past maintenance',
  },
  runs: (since: Moment) => phraseOf`for ${since}`,
  lasts: (length: string) => `takes ${length}`,
  further: 'Next page',
  back: 'Previous page',
};

export const englishIncidents = {
  title: 'Incidents of all services',
  heading: 'Incidents',
  lead: 'What our checks detected and what vendors and owners reported, newest first.',
  maintenanceState: {
    investigating: 'in progress',
    identified: 'in progress',
    monitoring: 'being verified',
    resolved: 'completed',
  } satisfies WordOf<IncidentStatus>,
  source: 'Source',
  anySource: 'All sources',
  severity: 'Severity',
  anySeverity: 'All severities',
  noMatch: 'No matching incidents.',
  pages: 'Pages',
  honesty: 'How long vendors take',
  older: 'Older',
  newer: 'Newer',
  newest: 'Newest',

  duration: 'Duration',
  lastsFor: 'Ongoing for',
  vendorFirst: 'The vendor reported it',
  later: (length: string, first: boolean) => `${length} ${first ? 'earlier' : 'later'}`,
  /** Who speaks: the lanes of the time axis, and the entries of the timeline. */
  voice: {
    own: 'Our checks',
    vendor: 'The vendor',
    owner: 'The owner',
  } satisfies WordOf<Incident['source']>,
  vendorLag: (length: string, first: boolean) =>
    `The vendor reported it ${length} ${first ? 'before' : 'after'} our first failed check.`,
  vendorSilent: 'The vendor has reported nothing so far.',
  vendorNever: 'The vendor did not report it.',
  checksFine: 'None of our checks failed during this time.',
  axis: 'What happened when',
  axisZero: {
    check: '0 is our first failed check.',
    entry: '0 is the first entry.',
  },
  cellNote: 'The higher a bar, the worse the checks of that time: fine, slow, failed.',
  affected: 'Affected service',
  sameTrouble: { own: 'What our checks saw', vendor: "The vendor's report", owner: "The owner's report" },
  share: 'Share',
  link: 'Link to this incident',

  heatmapTitle: 'Heat map of all services',
  heatmapHeading: 'Heat map',
  heatmapLead:
    'A row for each service, the worst of its category first. Point at a bad time to see when it was.',
  heatmapPicture: 'As a picture',
  heatmapLeft: (count: string) => `${count} more services are not shown. Choose a category.`,
  noBadTimes: 'no bad times',
  level: {
    none: 'no checks',
    fast: 'up, within 0.5 s',
    fair: 'up, within 1.5 s',
    long: 'up, longer',
    slow: 'slow',
    failing: 'some checks failed',
    down: 'half of the checks or more failed',
  } satisfies WordOf<CellLevel>,
};
