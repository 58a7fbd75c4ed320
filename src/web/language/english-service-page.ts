/** Texts of the page of a service and of the pages of its incidents, beside the verdict, in English. */

import { describeCause, describeFailure, type Failure, type Phase } from '../../domain/failure.ts';
import type { MaintenancePhase } from '../../domain/incident/maintenance.ts';
import type { VendorStatus } from '../../domain/incident/vendor-incident.ts';
import type { DayKind } from '../../domain/sample.ts';
import { age, type Moment, type Phrase, phraseOf, type WordOf } from '../../language/phrase.ts';
import type { RangeName } from '../../view/time-ranges.ts';

/** A vendor's reports of the outages of a year. */
interface LagWords {
  readonly acknowledged: number;
  readonly outages: number;
  /** The usual time between its report and our first failed check. */
  readonly length: string;
  /** True: it reported before. */
  readonly first: boolean;
  /** The longest time after our first failed check; null: it says no more than `length`. */
  readonly worst: string | null;
}

export const englishServicePage = {
  title: (name: string, status: string) => `${name}: ${status}`,
  path: 'Where you are',
  ourChecks: 'Our checks',
  itsReports: 'What it reports',
  lastCheck: (at: number, source: string) => phraseOf`Last check ${age(at)}, ${source}.`,
  blocked: 'It blocks automated requests or asks us to wait. All we know is that it responds.',
  stale: (at: number) => phraseOf`The last check was ${age(at)}. The status may have changed since then.`,
  paused: 'Checks of this service are paused. This is its last known status.',
  selfReported: 'Reported by its owner, who has not verified the domain yet.',
  waiting: 'The first check has not been made yet. Once it has, this page will show more.',

  vendor: "Vendor's status page",
  vendorStatus: {
    unknown: 'Not read yet',
    operational: 'No problems',
    maintenance: 'Maintenance',
    minor: 'Minor incident',
    major: 'Major incident',
    critical: 'Critical incident',
  } satisfies WordOf<VendorStatus>,
  vendorPage: "vendor's status page",
  /** The text before {@link vendorPage} and the vendor status. */
  vendorBefore: 'The',
  vendorUnread: 'is in a format that Upbeat does not read.',
  vendorReadAt: (at: number) => phraseOf`Read ${age(at)}`,
  itsIncident: 'Its incident',
  silentNow: (lasted: string) => `It has reported nothing in the ${lasted} since our first failed check.`,
  spokeNow: (length: string, first: boolean) =>
    first
      ? `It reported this outage ${length} before our first failed check.`
      : `It reported this outage ${length} after our first failed check.`,
  lagNone: (outages: number) =>
    outages === 1
      ? 'It did not report the one outage that our checks detected in the past year.'
      : `It reported none of the ${outages} outages that our checks detected in the past year.`,
  lagOne: (length: string, first: boolean) =>
    `In the past year it reported the one outage that our checks detected, ${length} ${first ? 'before' : 'after'} our first failed check.`,
  lagMany: ({ acknowledged, outages, length, first, worst }: LagWords) =>
    `In the past year it reported ${acknowledged} of the ${outages} outages that our checks detected, ${acknowledged === 1 ? '' : 'typically '}${length} ${
      first ? 'before' : 'after'
    } our first failed check${worst === null ? '' : `, at worst ${worst} after it`}.`,

  maintenance: {
    planned: 'Scheduled maintenance',
    running: 'Maintenance in progress',
    ended: 'Maintenance',
  } satisfies WordOf<MaintenancePhase>,
  from: (starts: Moment, ends: Moment | null): Phrase =>
    ends === null ? phraseOf`from ${starts}` : phraseOf`from ${starts} to ${ends}`,

  words: 'What do these figures mean?',
  /** Explanations of the words that figures have. */
  meaning: {
    uptime: 'The share of checks that did not fail. Slow responses count as up.',
    median: 'Half of the responses took this long or less.',
    p95: 'The 95th percentile: 95 of 100 responses took this long or less.',
    p99: 'The 99th percentile: 99 of 100 responses took this long or less.',
  },
  facts: 'Figures',
  responseTime: 'Response time',
  noAnswer: 'no response',
  answer: 'Response',
  itReports: 'It reports',
  certificate: 'Certificate',
  certificateDays: (days: number) =>
    days < 0
      ? 'expired'
      : days === 0
        ? 'less than a day left'
        : days === 1
          ? '1 day left'
          : `${days} days left`,
  certificateEnds: (at: Moment, expired: boolean) =>
    expired
      ? phraseOf`The server's certificate expired on ${at}. Browsers warn visitors.`
      : phraseOf`The server's certificate expires on ${at}. If it is not renewed, browsers will warn visitors.`,
  medianFor: (range: string) => `Median response time, ${range}`,
  upFor: (range: string) => `Uptime, ${range}`,
  upSince: (since: Moment) => phraseOf`Uptime since ${since}`,

  uptime: 'Uptime',
  measuredSince: (since: Phrase) =>
    phraseOf`Measured since ${since}. Longer periods contain no earlier data.`,
  daysAgo: (days: number) => `${days} days ago`,
  today: 'today',
  now: 'now',
  lastDays: (days: number) => `${days} days (UTC)`,
  barsLabel: (days: number, uptime: string | null) =>
    uptime === null
      ? `${days} days, none of them checked`
      : `Each of the last ${days} days; ${uptime} up overall`,
  calendarLabel: (uptime: string | null) =>
    uptime === null ? '1 year, none of its days checked' : `Each day of the last year; ${uptime} up overall`,
  chooseDays: 'Arrow keys move from one to the next.',
  dayKind: {
    up: 'up',
    slow: 'slow at times',
    down: 'down at times',
    suspect: 'our own connection was down',
    none: 'no checks',
  } satisfies WordOf<DayKind>,
  unreachedDay: 'could not be checked',
  downNote:
    'Uptime is the share of checks that did not fail. Downtime is estimated from the failed checks: each counts as one interval of the length that the service has now. Days on which the interval was longer show less downtime than there was.',
  day: (date: string, uptime: string, downtime: string | null, slow: string | null) =>
    `${date}: ${uptime} up${downtime === null ? '' : `, down for ${downtime}`}${slow === null ? '' : `, ${slow} of the responses slow`}`,
  dayWithout: (date: string, why: string) => `${date}: ${why}`,
  asTable: 'As a table',
  dayTable: 'Uptime by day',
  monthTable: 'Uptime by month',
  date: 'Day (UTC)',
  month: 'Month',
  upColumn: 'Up',
  downColumn: 'Down for',
  checksColumn: 'Checks',
  remark: 'Note',

  ranges: 'Time range',
  range: {
    '24h': '24 hours',
    '7d': '7 days',
    '30d': '30 days',
    '90d': '90 days',
    '1y': '1 year',
  } satisfies WordOf<RangeName>,
  ago: {
    '24h': '24 h ago',
    '7d': '7 days ago',
    '30d': '30 days ago',
    '90d': '90 days ago',
    '1y': 'a year ago',
  } satisfies WordOf<RangeName>,
  percentile: { p50: 'median', p95: 'p95', p99: 'p99' },
  failures: 'failed checks',
  failureShare: 'Failed',
  time: 'Time (UTC)',
  noTimes: 'There are no response times in this range.',
  chartLabel: (range: string, highest: string) => `Response time, ${range}: at most ${highest}`,
  chartLabelSince: (highest: string) => `Response time since the first check: at most ${highest}`,
  chartTable: 'Response times',
  chartOf: (name: string) => `Response times of ${name} over the last 24 hours`,
  chartFailed: 'This range could not be loaded. Try again in a moment.',
  samplesMissing: (since: Moment) =>
    phraseOf`Checks since ${since} are still being stored, so some are missing from the figures and charts.`,
  historyAway: 'Past checks cannot be read at the moment. The current status is not affected.',
  gaps: 'A gap is a period without data. Checks that a fault of ours may have affected are left out.',

  phases: 'Last check, phase by phase',
  phase: {
    dns: 'DNS lookup',
    connect: 'TCP connection',
    tls: 'TLS handshake',
    first_byte: 'Waiting for the response',
    body: 'Reading the response',
  } satisfies WordOf<Phase>,
  otherPhase: 'Redirects and other',
  total: 'Total',
  phasesLabel: (total: string) => `Phases of the last check, ${total} in total`,
  failedHere: (why: string) => `failed: ${why}`,
  /** The cause of a `body` failure may be the service's own status word, so the text contains the class as well. */
  failure: (failure: Failure): string => {
    const cause = describeCause(failure);
    return failure.class === 'body' || cause === '' ? `it ${describeFailure(failure)}` : cause;
  },

  incidents: 'Incidents',
  noIncidents: 'No incidents.',
  detectedByUs: 'Seen by our checks',
  detectedByHeartbeats: 'Reported by its heartbeats',
  withoutMaintenance: (uptime: string) => `${uptime} without announced maintenance`,
  postMortem: 'Post-mortem',
  calendar: 'Maintenance calendar',
  calendarFile: 'as a file (iCalendar)',
  saidByOwner: 'The owner says',
  reportedByOwner: 'Reported by the owner',
  reportedByVendor: 'Reported by the vendor',
  began: (at: Moment) => phraseOf`started ${at}`,
  lasting: (length: string) => `ongoing for ${length}`,
  lasted: (length: string) => `lasted ${length}`,
  soFar: (length: Moment) => phraseOf`Ongoing, ${length}`,
  allUpdates: (updates: number) => (updates === 1 ? 'The whole update' : `All ${updates} updates`),
  allEntries: 'All entries',
  timeline: (entries: number) => (entries === 1 ? 'Timeline, one entry' : `Timeline, ${entries} entries`),
  timelineHeading: 'Timeline',
  noTimeline: 'There are no updates.',
  vendorEntry: "Vendor's report",
  ended: (at: Moment) => phraseOf`ended ${at}`,
  newer: 'Newer incident',
  older: 'Older incident',
  neighbours: 'Other incidents',
  noIncident: (name: string, id: string) => `${name} has no incident "${id}".`,

  regions: 'Regions',
  region: 'Region',
  regionChoice: 'Checks from',
  allRegions: 'all regions',
  regionChecked: 'Last check',
  regionFailure: 'Failure',
  failsFrom: (regions: string) => `Fails from ${regions}.`,
  withoutNode: (regions: string) => `Not checked from ${regions}: no node in that region makes checks.`,

  dependencies: 'Dependencies',
  reported: (at: number) => phraseOf`As reported ${age(at)}`,
  noDependencies: 'None reported yet.',
  dependency: 'Dependency',
  state: 'State',
  latency: 'Latency',
  since: 'Since',
  others: 'Elsewhere',
  othersToo: (others: number) =>
    others === 0
      ? 'no other service reports it'
      : others === 1
        ? '1 other service reports it too'
        : `${others} other services report it too`,

  badge: 'Badge',
  tellMeDown: 'Tell me when it is down',
  tellMeUp: 'Tell me when it is up again',
  badgeFor: 'Badge for your website',
  badgeLead: 'Show this status on your own website. The picture updates itself.',
  moreBadges: 'More badges: uptime, response time, other formats',
  markdown: 'Markdown',
  html: 'HTML',
  picture: 'Picture',
  copyByHand: 'Press Ctrl+C to copy.',

  follow: 'Follow',
  atom: 'Incidents as an Atom feed',
  atomFor: 'for feed readers',
  events: 'Changes as they happen',
  eventsFor: 'Server-Sent Events, for programs',
  json: 'Status as JSON',
  historyJson: 'History as JSON',
  incidentsJson: 'Incidents as JSON',
  forPrograms: 'for programs',
};
