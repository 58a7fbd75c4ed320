/**
 * The texts of pages in English. Every other language has exactly these keys. A sentence is one entry, and a function
 * where it contains a value, since languages differ in word order. Sentences with times are phrases.
 */

import { inSeconds } from '../../domain/durations.ts';
import type { VendorStatus } from '../../domain/incident/vendor-incident.ts';
import type { Quorum } from '../../domain/node.ts';
import type { BadgeStyle, PictureTheme, PictureWindow } from '../../domain/picture.ts';
import { type Moment, type Phrase, phraseOf, type WordOf } from '../../language/phrase.ts';
import { SHARED_TEXTS } from '../../language/shared-texts.ts';
import type { BadgeFormat, BadgeMeasure, BadgeVariant } from '../../view/badge-url.ts';
import { englishAlerts } from './english-alerts.ts';
import { englishChecks } from './english-checks.ts';
import { englishDashboard, englishMembers } from './english-dashboard.ts';
import { englishIncidents, englishMaintenance, englishPosts } from './english-incidents.ts';
import { englishServicePage } from './english-service-page.ts';
import { englishSignIn, englishStart } from './english-sign-in.ts';
import { englishPageEditor, englishStatusPage, englishSubscribe } from './english-status-page.ts';
import type { Theme } from './theme.ts';

/** Counts of the sentence above the table. */
interface Counts {
  readonly outages: number;
  readonly vendors: number;
  readonly acknowledged: number;
}

export const englishHonesty = {
  title: 'How long vendors take to report outages',
  heading: 'How long vendors take to report outages',
  lead: 'From our first failed check to the first entry on the status page of the vendor.',
  summary: ({ outages, vendors, acknowledged }: Counts, median: string | null) =>
    `Our checks saw ${outages} ${outages === 1 ? 'outage' : 'outages'} at ${vendors} ${vendors === 1 ? 'vendor' : 'vendors'}. ${acknowledged} of ${outages} ${outages === 1 ? 'was' : 'were'} reported${median === null ? '.' : `, half of all within ${median}.`}`,
  empty: 'Our checks have not seen an outage that counts yet.',
  rank: 'Rank',
  vendor: 'Vendor',
  outages: 'Outages',
  acknowledged: 'Reported',
  neverCount: 'Never reported',
  median: 'Half within',
  worst: 'Longest',
  never: 'never',
  mostlyNever: 'mostly never',
  entries: (all: number, shown: number) =>
    shown < all ? `The newest ${shown} of ${all} outages` : `${all} ${all === 1 ? 'outage' : 'outages'}`,
  notReported: 'never reported',
  reported: (length: string, first: boolean) =>
    first ? `reported ${length} before our first failed check` : `reported after ${length}`,
  unread: (length: string, isNow: boolean) =>
    `${isNow ? 'Its status page cannot be read at the moment' : 'Its status page could not be read at times'} (${length} in all). Outages from that time are left out.`,
  statusPage: 'Status page of the vendor',
  next: 'More vendors',
  previous: 'Previous vendors',
  rulesHeading: 'What counts',
  rules: (minimum: number) => [
    'Services of the public list whose status page is read. Time in which a page could not be read is left out, with its outages.',
    'An outage counts if at least two checks in a row by schedule have failed. Maintenance does not count.',
    "Outages of a vendor's services that begin within an hour of each other are one outage while the first lasts.",
    'An outage is reported if the vendor published an entry between an hour before it and an hour after its end.',
    'An outage without an entry counts as never reported an hour after its end. Until then it does not count.',
    '“Half within” includes outages that were never reported. Where fewer than half were reported, it is “mostly never”.',
    `Vendors have a rank from ${minimum} outages on: fewer say little.`,
  ],
};

export const englishAbout = {
  title: 'About this monitor',
  heading: 'About this monitor',
  lead: (count: number, shown: string) =>
    count === 1
      ? 'Upbeat is an open-source monitor: it tells the world whether a service is up. This installation watches one service.'
      : `Upbeat is an open-source monitor: it tells the world whether a service is up. This installation watches ${shown} services.`,
  figures: 'Figures',
  services: 'Services',
  every: 'Checked every',
  perMinute: 'Checks per minute',
  regions: 'Regions',
  how: 'How it checks',
  slow: (slowOverMs: number, timeoutMs: number) =>
    `A response that takes longer than ${inSeconds(slowOverMs)} is slow. No response within ${inSeconds(timeoutMs)} is a failure.`,
  confirm: (times: number) =>
    times === 0
      ? 'A service is down as soon as a check fails.'
      : times === 1
        ? 'A failed check is repeated once on a new connection. Only if that fails too is the service down.'
        : `A failed check is repeated up to ${times} times, each time on a new connection. Only if all of them fail is the service down.`,
  errors:
    'Server errors (5xx) and missing pages (404, 410) are failures. A site that turns robots away still counts as up.',
  offline: 'While our own connection is down, no service is reported as down.',
  heartbeats: (silence: string) =>
    `Services of owners can send heartbeats instead of being checked. Without a heartbeat for ${silence} such a service is down, unless its owner chose another time.`,
  vendors: (count: number, shown: string) =>
    count === 1
      ? "One service's vendor has a status page that we read. It is shown beside our checks and never changes them."
      : `The vendors of ${shown} services have status pages that we read. They are shown beside our checks and never change them.`,
  where: 'Where it checks from',
  nodes: (count: number) => (count === 1 ? 'one node' : `${count} nodes`),
  regionOffline: 'offline',
  noRegion: 'No node is making checks right now.',
  quorum: (quorum: Quorum) =>
    quorum === 'any'
      ? 'A service is down as soon as one region has confirmed a failure.'
      : quorum === 'all'
        ? 'A service is down once all regions have confirmed a failure.'
        : quorum === 'majority'
          ? 'A service is down once more than half of the regions have confirmed a failure.'
          : `A service is down once ${quorum} regions have confirmed a failure.`,
  recognise: 'How to recognise our checks',
  userAgent: 'In the log of a server our checks have this user agent:',
  robot: 'They send no cookies and read no more than they need: where a server accepts it, only the headers.',
  who: 'Who runs it',
  operator: 'Operator',
  contact: 'Contact',
  security: 'To report a vulnerability',
  unnamed: 'The operator of this installation has not given a name or a contact.',
  software: 'Software and documentation',
  version: 'Version',
  apiVersion: 'API version',
  docs: 'Documentation of the API',
  openApi: 'The API for programs (OpenAPI)',
  badges: 'Badges for your website',
  feed: 'All incidents as a feed (Atom)',
  metrics: 'Metrics for Prometheus',
};

const shared = SHARED_TEXTS.en;

export const english = {
  status: shared.status,
  incidentStatus: shared.incidentStatus,
  severity: shared.severity,
  category: shared.category,
  /** The frame of every page. */
  site: {
    skip: 'Skip to the content',
    navigation: 'Site',
    services: 'Services',
    api: 'API',
    apiTitle: 'Upbeat API',
    apiHeading: 'The API',
    /** Shown in other languages only. */
    apiInEnglish: 'The description itself is in English.',
    incidents: 'Incidents',
    heatmap: 'Heat map',
    maintenance: 'Maintenance',
    about: 'About',
    dashboard: 'Dashboard',
    metrics: 'Metrics',
    language: 'Language',
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' } satisfies WordOf<Theme>,
    timesAreUtc: 'Times are UTC.',
    timesAreYours: 'Times are in your time zone. Hover over one to see UTC.',
    away: 'Our own connection has been down',
    awaySince: (since: Moment) =>
      phraseOf`since ${since}: the prober is offline. This page shows the last known statuses. No service is reported as down until the connection is back.`,
    lost: 'The connection to this site is lost.',
    reload: 'Reload to see the current status',
    reloadByHand:
      'This page shows the status at the time it was loaded. Reload it to see the current status.',
    notFound: 'Not found',
    noService: (name: string) => `There is no service named "${name}".`,
    show: 'Show',
    lookForIt: 'Search all services',
  },
  /** Of error pages. */
  errors: {
    about: (status: number) => `About error ${status}`,
    missing: { heading: 'Not found', advice: 'There is nothing at this address.' },
    request: { heading: 'Bad request', advice: 'This request cannot be answered as it stands.' },
    forbidden: {
      heading: 'Not allowed',
      advice: 'You do not have permission for this, or you need to sign in first.',
    },
    method: { heading: 'Not possible', advice: 'This address does not accept this kind of request.' },
    changed: { heading: 'Changed in the meantime', advice: 'Go back, reload the page and try again.' },
    limited: { heading: 'Too many requests', advice: 'Wait a moment, then reload the page.' },
    unavailable: { heading: 'Temporarily unavailable', advice: 'Wait a moment, then try again.' },
    fault: { heading: 'Something went wrong', advice: 'This is our fault. Try again in a moment.' },
  },
  home: {
    title: 'Upbeat: is it up?',
    heading: 'Is it up?',
    lead: (count: number, shown: string) =>
      count === 1 ? 'One service, checked continuously.' : `${shown} services, checked continuously.`,
    byStatus: 'Services by status',
    heatmap: 'All services over the last 24 hours',
    searchLabel: 'Name or domain',
    searchHint: 'press / to search',
    searchKeys: 'Arrow keys choose, Enter opens.',
    allCategories: 'All categories',
    noPublic: 'There are no public services here.',
    yourServices: 'Your services',
    categoryLabel: 'Category',
    search: 'Search',
    results: (count: number, shown: string) =>
      count === 0 ? 'No service matches.' : count === 1 ? 'One service matches.' : `${shown} services match.`,
    noMatch: 'No service matches.',
    showAll: 'Show all',
    troubled: 'Down or slow now',
    calm: 'Nothing is down or slow right now.',
    calmEmpty: 'No services are monitored yet.',
    calmUnchecked: 'No service has been checked yet.',
    calmOffline: 'We cannot tell what is down or slow right now: this monitor is offline.',
    calmLate: 'We cannot tell what is down or slow right now: every check is late.',
    calmPartly: (count: number, shown: string) =>
      count === 1 ? 'One service has not been checked yet.' : `${shown} services have not been checked yet.`,
    allIncidents: 'All incidents',
    heatmapOf: 'Heat map of every service',
    allTroubled: (shown: string) => `All ${shown}`,
    troubledCount: (shown: string) => `${shown} in trouble`,
    notListed: (shown: string, all: string) => `${shown} of ${all} are listed. Search for the others.`,
    verdict: (up: string, all: string) => `${up} of ${all} operational`,
    verdictAll: (count: number, all: string) =>
      count === 1 ? 'The service is operational' : `All ${all} services are operational`,
    verdictUnchecked: 'Nothing is known yet: no service has been checked',
    verdictOffline: 'Our own connection is down: these are the last known statuses',
    verdictLate: 'Every check is late: these are the last known statuses',
    categories: 'Categories',
    lastDay: 'The last 24 hours',
    lastDayNote:
      'Each cell is an hour of a category, filled by the share of its services that failed. The lines below are the response times of the same hours, with a mark where a service was slow or failed.',
    stripOf: (category: string, bad: string | null, isKnown: boolean) =>
      `${category}, last 24 hours: ${isKnown ? `${bad ?? 'nothing down or slow'} now` : 'no status known yet'}. Open the heat map.`,
    dayAgo: '24 hours ago',
    similar: 'No service has exactly this name. Did you mean one of these?',
    incidents: 'Recent incidents',
    lasting: (since: Moment) => phraseOf`for ${since}`,
    monitor: 'Monitor',
    online: 'Connected',
    offline: 'Disconnected',
    checkRate: (perSecond: number, shown: string) =>
      perSecond === 1 ? 'one check per second' : `${shown} checks per second`,
    newestCheck: (ago: Moment) => phraseOf`latest check ${ago}`,
    noCheckYet: 'no check yet',
    late: (count: number, shown: string) =>
      count === 0 ? 'all checks on time' : count === 1 ? '1 overdue check' : `${shown} overdue checks`,
  },
  /** The texts of the badge builder. */
  badges: {
    title: 'Badges',
    titleOf: (name: string) => `Badges for ${name}`,
    lead: 'A picture for your README or website that shows how a service is doing.',
    search: 'Service',
    searchHint: 'name or domain',
    find: 'Find',
    more: 'There are more. Type more of the name.',
    examples: 'Kinds of badges',
    example: {
      status: 'The current status',
      uptime: 'The share of time that it was up',
      latency: 'The response time',
      compact: 'The compact style',
    } satisfies WordOf<BadgeVariant | 'compact'>,
    make: 'Choose a service',
    another: 'Another service',
    page: 'Service page',
    variant: 'Shows',
    variants: { status: 'Status', uptime: 'Uptime', latency: 'Response time' } satisfies WordOf<BadgeVariant>,
    window: 'Period',
    windows: {
      '24h': '24 hours',
      '7d': '7 days',
      '30d': '30 days',
      '90d': '90 days',
      '1y': 'a year',
    } satisfies WordOf<PictureWindow>,
    measure: 'Statistic',
    measures: { median: 'median', p95: 'p95' } satisfies WordOf<BadgeMeasure>,
    theme: 'Theme',
    themes: { light: 'light', dark: 'dark' } satisfies WordOf<PictureTheme>,
    style: 'Style',
    styles: { card: 'card', compact: 'compact' } satisfies WordOf<BadgeStyle>,
    label: 'Label',
    labelHint: 'the name',
    bothThemes: 'HTML, light and dark',
    format: 'Format',
    formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' } satisfies WordOf<BadgeFormat>,
    picture: 'Preview',
    shown: 'The badge and the snippets have changed.',
    sharp:
      'An SVG is sharp on every screen. The HTML code of a PNG names a second picture for screens of high resolution.',
    shieldsNote: 'Shields.io draws it in its own style, from',
    shieldsLink: 'this JSON',
    snippets: 'Embed code',
    url: 'URL',
    copy: 'Copy',
    copied: 'Copied.',
    copyByHand: 'Press Ctrl+C to copy.',
    fresh:
      'The badge updates itself; caches keep it for up to five minutes. An outdated badge turns grey and shows its age.',
    alt: (name: string, variant: BadgeVariant, window: string): string =>
      variant === 'status'
        ? `${name} status`
        : `${name} ${variant === 'uptime' ? 'uptime' : 'response time'}, ${window}`,
  },
  checks: englishChecks,
  alerts: englishAlerts,
  dashboard: englishDashboard,
  members: englishMembers,
  posts: englishPosts,
  subscribe: englishSubscribe,
  pageEditor: englishPageEditor,
  /** The texts of the page of one service. */
  service: {
    /** Texts after the service's name. `lasted` is the time since then, shown as a length. */
    notChecked: 'has not been checked yet.',
    up: (since: Moment, lasted: Moment) => phraseOf`has been operational since ${since} (${lasted}).`,
    slow: (since: Moment, lasted: Moment, why: string | null) =>
      phraseOf`has been slow since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    down: (since: Moment, lasted: Moment, why: string | null) =>
      phraseOf`has been down since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    /** The answer in the head of the page. */
    answer: {
      up: (name: string): Phrase => [`${name} is up`],
      slow: (name: string, lasted: Moment): Phrase => phraseOf`${name} has been slow for ${lasted}`,
      down: (name: string, lasted: Moment): Phrase => phraseOf`${name} has been down for ${lasted}`,
      /** After the sentence that it is down: what it does, such as `is returning errors (HTTP 503)`. */
      why: (symptom: string) => `: it ${symptom}`,
      /** The same where it cannot be reached: why. */
      unreached: (because: string) => `: ${because}`,
      unknown: (name: string): Phrase => [`${name} has not been checked yet`],
      /** The newest check is too old to say how the service is. */
      stale: (name: string, seen: Moment): Phrase => phraseOf`${name} was last checked ${seen}`,
      paused: (name: string): Phrase => [`${name} is not being checked`],
      reported: (name: string): Phrase => [`${name}: incident reported; our checks pass`],
    },
    /** The same in the title of the page, where no time passes. */
    answerTitle: {
      up: (name: string) => `${name} is up`,
      slow: (name: string) => `${name} is slow`,
      down: (name: string) => `${name} is down`,
    },
    noHeartbeat: 'no heartbeat arrived',
    /** `name` is null where those who see the service may not know of the cause. */
    because: (name: string | null) => `not reachable, because of ${name ?? 'something in front of it'}`,
    failure: shared.failure,
    symptom: shared.symptom,
    reason: shared.reason,
    /** An incident that our own checks opened: its title, and an entry of its timeline. */
    incidentTitle: shared.incidentTitle,
    incidentNote: shared.incidentNote,
    /** `word` is the status word in its original form. */
    reported: (word: string) => `it reports "${word}"`,
    ownReport: (took: string | null) =>
      took === null ? 'by its own report' : `by its own report, with a response time of ${took}`,
    slowAnswer: (took: string) => `the last response took ${took}`,
    /** Completes "The vendor's status page ...". */
    vendor: {
      unknown: 'has not been read yet',
      operational: 'reports no problems',
      maintenance: 'reports maintenance',
      minor: 'reports a minor incident',
      major: 'reports a major incident',
      critical: 'reports a critical incident',
    } satisfies WordOf<VendorStatus>,
    vendorSince: (text: string, since: Moment): Phrase => phraseOf`${text}, since ${since}`,
    vendorStale: (text: Phrase, ago: string): Phrase =>
      phraseOf`${text}, ${ago} ago; it has not been readable since then`,
    vendorUnread: (text: Phrase): Phrase => phraseOf`${text} when it was last read`,
  },
  honesty: englishHonesty,
  incidents: englishIncidents,
  maintenance: englishMaintenance,
  about: englishAbout,
  page: englishServicePage,
  statusPage: englishStatusPage,
  signIn: englishSignIn,
  start: englishStart,
};

export type Texts = typeof english;
