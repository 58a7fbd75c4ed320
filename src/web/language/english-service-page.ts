/** What the page of a service and the pages of its incidents show beside the verdict, in English. */

import type { Failure, Phase } from '../../domain/failure.ts';
import { describeCauseInSeconds, describeFailure } from '../../domain/failure-text.ts';
import type { MaintenancePhase } from '../../domain/maintenance.ts';
import type { DayKind } from '../../domain/sample.ts';
import type { VendorStatus } from '../../domain/vendor-word.ts';
import type { RangeName } from '../../view/time-ranges.ts';
import { inSeconds } from './formats.ts';
import { age, type Moment, type Phrase, say } from './phrase.ts';

/** The words of these pages. */
export const englishServicePage = {
  title: (name: string, status: string) => `${name}: ${status}`,
  path: 'Where you are',
  ourChecks: 'Our checks',
  itsReports: 'What it reports',
  lastCheck: (at: number, source: string) => say`Last check ${age(at)}, ${source}.`,
  source: {
    root: 'by asking for its start page',
    health: 'by asking for its health report',
    heartbeat: 'from a heartbeat that it sent',
    silence: 'because no heartbeat came',
  } as Readonly<Record<'root' | 'health' | 'heartbeat' | 'silence', string>>,
  blocked: 'It keeps programs like ours out, or asks us to wait: that it answers is all we know.',
  stale: (at: number) => say`The last check is old (${age(at)}). The status may have changed since.`,
  paused: 'Checks of this service are paused. What stands here is the last that is known.',
  selfReported: 'Reported by its owner, who has not shown control of the domain yet.',
  waiting: 'The first check is on its way. This page has more to show after it.',

  vendor: "The vendor's word",
  vendorStatus: {
    unknown: 'Not read yet',
    operational: 'All is well',
    maintenance: 'Maintenance',
    minor: 'Minor incident',
    major: 'Major incident',
    critical: 'Critical incident',
  } as Readonly<Record<VendorStatus, string>>,
  vendorPage: 'own status page',
  /** Before {@link vendorPage} and what it says. */
  vendorBefore: 'Its',
  vendorUnread: 'There is a status page of its own, in a form that we do not read.',
  vendorReadAt: (at: number) => say`Read ${age(at)}`,
  itsIncident: 'Its incident',
  silentNow: (lasted: string) => `It has said nothing in the ${lasted} since our first failed check.`,
  spokeNow: (length: string, first: boolean) =>
    first
      ? `It spoke of this outage ${length} before our first failed check.`
      : `It spoke of this outage ${length} after our first failed check.`,
  lagNone: (outages: number) =>
    `It said nothing of the ${outages === 1 ? 'one outage' : `${outages} outages`} that our checks saw in a year.`,
  lagOne: (length: string, first: boolean) =>
    `In a year it spoke of the one outage that our checks saw, ${length} ${first ? 'before' : 'after'} our first failed check.`,
  lagMany: (acknowledged: number, outages: number, length: string, first: boolean, worst: string | null) =>
    `In a year it spoke of ${acknowledged} of the ${outages} outages that our checks saw, typically ${length} ${
      first ? 'before' : 'after'
    } our first failed check${worst === null ? '' : `, at worst ${worst} after it`}.`,

  maintenance: {
    planned: 'Maintenance ahead',
    running: 'Maintenance at work',
    ended: 'Maintenance',
  } as Readonly<Record<MaintenancePhase, string>>,
  from: (starts: Moment, ends: Moment | null): Phrase =>
    ends === null ? say`from ${starts}` : say`from ${starts} to ${ends}`,

  facts: 'Figures',
  responseTime: 'Response time',
  noAnswer: 'no answer',
  answer: 'Answer',
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
      ? say`The certificate of its server ran out at ${at}: browsers warn their users.`
      : say`The certificate of its server runs out at ${at}. If it is not renewed, browsers will warn their users.`,
  upFor: {
    '24h': 'Up, 24 hours',
    '7d': 'Up, 7 days',
    '30d': 'Up, 30 days',
    '90d': 'Up, 90 days',
    '1y': 'Up, a year',
  } as Readonly<Record<RangeName, string>>,

  uptime: 'Uptime',
  measuredSince: (since: Phrase) => say`Measured since ${since}: a longer time holds no more than that.`,
  ninetyDays: '90 days',
  year: 'A year',
  daysAgo: (days: number) => `${days} days ago`,
  today: 'today',
  now: 'now',
  barsLabel: (uptime: string | null) =>
    uptime === null ? '90 days, none of them checked' : `Each of the last 90 days; in all ${uptime} up`,
  calendarLabel: (uptime: string | null) =>
    uptime === null ? 'A year, no day of it checked' : `Each day of the last year; in all ${uptime} up`,
  chooseDays: 'Arrow keys move from day to day.',
  dayKind: {
    up: 'up',
    slow: 'slow at times',
    down: 'down at times',
    suspect: 'our own connection was away',
    none: 'no checks',
  } as Readonly<Record<DayKind, string>>,
  day: (date: string, uptime: string, downtime: string | null, slow: string | null) =>
    `${date}: ${uptime} up${downtime === null ? '' : `, down for ${downtime}`}${slow === null ? '' : `, ${slow} of the answers slow`}`,
  dayWithout: (date: string, why: string) => `${date}: ${why}`,
  asTable: 'As a table',
  dayTable: 'Uptime by day',
  monthTable: 'Uptime by month',
  date: 'Day (UTC)',
  month: 'Month',
  upColumn: 'Up',
  downColumn: 'Down for',
  checksColumn: 'Checks',
  remark: 'Remark',

  ranges: 'Range of time',
  range: {
    '24h': '24 hours',
    '7d': '7 days',
    '30d': '30 days',
    '90d': '90 days',
    '1y': '1 year',
  } as Readonly<Record<RangeName, string>>,
  ago: {
    '24h': '24 h ago',
    '7d': '7 days ago',
    '30d': '30 days ago',
    '90d': '90 days ago',
    '1y': 'a year ago',
  } as Readonly<Record<RangeName, string>>,
  percentile: { p50: 'half are faster', p95: '95 % are faster', p99: '99 % are faster' } as Readonly<
    Record<'p50' | 'p95' | 'p99', string>
  >,
  failures: 'failed checks',
  failureShare: 'Failed',
  time: 'Time (UTC)',
  noTimes: 'No response times are known in this range.',
  chartLabel: (range: string, highest: string) => `Response time, ${range}: at most ${highest}`,
  chartLabelSince: (since: string, highest: string) => `Response time since ${since}: at most ${highest}`,
  chartTable: 'Response times',
  chartOf: (name: string) => `Response times of ${name} over the last 24 hours`,
  chartFailed: 'This range could not be loaded. Try again in a moment.',
  samplesMissing: (since: Moment) =>
    say`Checks since ${since} are still being stored, so some are missing from the figures and charts.`,
  historyAway: 'The store of past checks does not answer at the moment; the present status does.',
  gaps: 'A gap is a time of which nothing is known. Checks that our own fault may have spoilt are left out.',

  phases: 'Last check, phase by phase',
  phase: {
    dns: 'Finding the address',
    connect: 'Connecting',
    tls: 'Securing the connection',
    first_byte: 'Waiting for the answer',
    body: 'Reading the answer',
  } as Readonly<Record<Phase, string>>,
  otherPhase: 'Redirects and the rest',
  total: 'In all',
  phasesLabel: (total: string) => `Phases of the last check, ${total} in all`,
  failedHere: (why: string) => `failed: ${why}`,
  /** The cause of a `body` failure may be the service's own word, which needs its class around it. */
  failure: (failure: Failure): string => {
    const cause = describeCauseInSeconds(failure, (ms) => inSeconds(ms, '.'));
    return failure.class === 'body' || cause === '' ? describeFailure(failure) : cause;
  },

  incidents: 'Incidents',
  noIncidents: 'None is known.',
  seenByUs: 'Seen by our checks',
  toldByVendor: 'Told by the vendor',
  began: (at: Moment) => say`began ${at}`,
  lasting: (length: string) => `for ${length} so far`,
  lasted: (length: string) => `lasted ${length}`,
  timeline: (entries: number) => (entries === 1 ? 'Timeline, one entry' : `Timeline, ${entries} entries`),
  timelineHeading: 'Timeline',
  noTimeline: 'Nothing was written about it.',
  vendorEntry: "The vendor's own words",
  ended: (at: Moment) => say`ended ${at}`,
  newer: 'Newer incident',
  older: 'Older incident',
  neighbours: 'Other incidents',
  noIncident: (name: string, id: string) => `${name} has no incident "${id}".`,
  backTo: (name: string) => `Back to ${name}`,

  dependencies: 'What it depends on',
  reported: (at: number) => say`As it reported ${age(at)}`,
  noDependencies: 'It has not reported any yet.',
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
  badgeLead: 'Show this status on a page of your own. The picture keeps itself up to date.',
  moreBadges: 'More badges: uptime, response time, other formats',
  markdown: 'Markdown',
  html: 'HTML',
  picture: 'Picture',
  copy: 'Copy',
  copied: 'Copied.',
  copyByHand: 'Press Ctrl+C to copy.',

  follow: 'Follow it',
  atom: 'Incidents as an Atom feed',
  atomFor: 'for feed readers',
  events: 'Changes as they happen',
  eventsFor: 'Server-Sent Events, for programs',
  json: 'Status as JSON',
  historyJson: 'History as JSON',
  incidentsJson: 'Incidents as JSON',
  forPrograms: 'for programs',
};
