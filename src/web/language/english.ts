/**
 * What pages say, in English: the source of all keys, which every other language has exactly. A sentence is one entry,
 * with functions where something stands inside it: languages differ in the order of words. Sentences with times are
 * phrases.
 */
import { CATEGORY_TITLES, type Category } from '../../domain/category.ts';
import type { Failure } from '../../domain/failure.ts';
import { describeCauseInSeconds } from '../../domain/failure-text.ts';
import type { IncidentStatus, Severity } from '../../domain/incident.ts';
import { describeNote, describeOpening } from '../../domain/incident-text.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import type { VendorStatus } from '../../domain/vendor-word.ts';
import type { BadgeFormat, BadgeMeasure, BadgeVariant, BadgeWindow } from '../../view/badge-query.ts';
import { englishDashboard } from './english-dashboard.ts';
import { englishPageEditor } from './english-page-editor.ts';
import { englishServicePage } from './english-service-page.ts';
import { englishStatusPage } from './english-status-page.ts';
import { inSeconds } from './formats.ts';
import { type Moment, type Phrase, say } from './phrase.ts';

/** The words of the site in English. */
export const english = {
  status: { up: 'Operational', slow: 'Slow', down: 'Down', unknown: 'Unknown' } as WordOf<ServiceStatus>,
  incidentStatus: {
    investigating: 'investigating',
    identified: 'identified',
    monitoring: 'monitoring',
    resolved: 'resolved',
  } as WordOf<IncidentStatus>,
  severity: {
    minor: 'minor',
    major: 'major',
    critical: 'critical',
    maintenance: 'maintenance',
  } as WordOf<Severity>,
  category: CATEGORY_TITLES as WordOf<Category>,
  /** The frame of every page. */
  site: {
    skip: 'Skip to the content',
    navigation: 'Site',
    services: 'Services',
    api: 'API',
    apiTitle: 'Upbeat API',
    apiHeading: 'The API',
    /** Said in other languages alone. */
    apiInEnglish: 'The description itself is in English.',
    dashboard: 'Dashboard',
    metrics: 'Metrics',
    language: 'Language',
    timesAreUtc: 'Times are UTC.',
    timesAreYours: 'Times are in your zone; UTC when you point at them.',
    away: 'Our own connection is away',
    awaySince: (since: Moment) =>
      say`since ${since}: the prober is offline. What stands here is the last that is known; nothing is called down until we are back.`,
    lost: 'The connection to this site is lost.',
    reload: 'Reload to see the present state',
    reloadByHand:
      'This page shows the state at the moment it was loaded. Reload it to see the present state.',
    notFound: 'Not found',
    noService: (name: string) => `No service has the name "${name}".`,
    lookForIt: 'Look for it among all services',
  },
  home: {
    title: 'Upbeat: is it up?',
    heading: 'Is it up?',
    lead: (count: number, shown: string) =>
      count === 1
        ? 'One service, checked from here again and again.'
        : `${shown} services, each checked from here again and again.`,
    byStatus: 'Services by status',
    heatmap: 'All services over the last 24 hours',
    searchLabel: 'Name or domain',
    searchHint: 'press / to search',
    searchKeys: 'Arrow keys choose, Enter opens.',
    allCategories: 'All categories',
    categoryLabel: 'Category',
    search: 'Search',
    results: (count: number, shown: string) =>
      count === 0 ? 'No service matches.' : count === 1 ? 'One service matches.' : `${shown} services match.`,
    noMatch: 'No service matches.',
    showAll: 'Show all',
    troubled: 'Down or slow now',
    calm: 'Nothing is down or slow right now.',
    calmEmpty: 'No service is watched yet.',
    calmUnchecked: 'No service has been checked yet.',
    calmOffline: 'What is down or slow right now is not known: this monitor is offline.',
    calmLate: 'What is down or slow right now is not known: every check is late.',
    calmPartly: (count: number, shown: string) =>
      count === 1 ? 'One service has not been checked yet.' : `${shown} services have not been checked yet.`,
    more: (_count: number, shown: string) => `${shown} more`,
    incidents: 'Recent incidents',
    began: (started: Moment) => say`${started}`,
    lasted: (length: string) => `lasted ${length}`,
    lasting: (since: Moment) => say`for ${since}`,
    monitor: 'The monitor itself',
    online: 'Connected',
    offline: 'Disconnected',
    checkRate: (perSecond: number, shown: string) =>
      perSecond === 1 ? 'one check a second' : `${shown} checks a second`,
    newestCheck: (ago: Moment) => say`newest check ${ago}`,
    noCheckYet: 'no check yet',
    late: (count: number, shown: string) =>
      count === 0 ? 'none late' : count === 1 ? 'one check late' : `${shown} checks late`,
  },
  /** The words of the badge builder. */
  badges: {
    title: 'Badges',
    titleOf: (name: string) => `Badges for ${name}`,
    lead: 'A picture for your README or site that says how a service is, and how old that is.',
    search: 'Service',
    searchHint: 'name or domain',
    find: 'Find',
    noMatch: 'No service matches.',
    more: 'There are more. Write more of the name.',
    examples: 'What there is',
    example: {
      status: 'How it is now',
      uptime: 'How much of the time it was up',
      latency: 'How fast it answers',
    } as Readonly<Record<BadgeVariant, string>>,
    make: 'Choose a service',
    another: 'Another service',
    page: 'Its page',
    variant: 'Shows',
    variants: { status: 'Status', uptime: 'Uptime', latency: 'Response time' } as Readonly<
      Record<BadgeVariant, string>
    >,
    window: 'Over',
    windows: {
      '24h': '24 hours',
      '7d': '7 days',
      '30d': '30 days',
      '90d': '90 days',
      '1y': 'a year',
    } as Readonly<Record<BadgeWindow, string>>,
    measure: 'Which response time',
    measures: { median: 'median', p95: '95th percentile' } as Readonly<Record<BadgeMeasure, string>>,
    theme: 'Theme',
    themes: { light: 'light', dark: 'dark' } as Readonly<Record<'light' | 'dark', string>>,
    format: 'Format',
    formats: { png: 'PNG', svg: 'SVG', shields: 'Shields' } as Readonly<Record<BadgeFormat, string>>,
    show: 'Show',
    picture: 'The badge now',
    shown: 'The badge and the snippets have changed.',
    shieldsNote: 'Shields draws it in its own look, from',
    shieldsLink: 'what we tell it',
    snippets: 'To paste',
    url: 'Address',
    copy: 'Copy',
    copied: 'Copied.',
    copyByHand: 'Press Ctrl+C to copy.',
    fresh:
      'It renews itself: caches keep a badge for five minutes. What is old turns grey and tells its age.',
    alt: (name: string, variant: BadgeVariant, window: string): string =>
      variant === 'status'
        ? `${name} status`
        : `${name} ${variant === 'uptime' ? 'uptime' : 'response time'}, ${window}`,
  },
  dashboard: englishDashboard,
  pageEditor: englishPageEditor,
  /** The words of the page of one service. */
  service: {
    /** Behind the service's name. `lasted` is the time since then, shown as a length. */
    notChecked: 'has not been checked yet.',
    up: (since: Moment, lasted: Moment) => say`has been operational since ${since} (${lasted}).`,
    slow: (since: Moment, lasted: Moment, why: string | null) =>
      say`has been slow since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    down: (since: Moment, lasted: Moment, why: string | null) =>
      say`has been down since ${since} (${lasted})${why === null ? '' : `: ${why}`}.`,
    noHeartbeat: 'no heartbeat arrived',
    failure: (failure: Failure): string => describeCauseInSeconds(failure, (ms) => inSeconds(ms, '.')),
    /** An incident that our own checks opened: its title, and an entry of its timeline. */
    incidentTitle: describeOpening,
    incidentNote: describeNote,
    /** `word` is what the service said, as it said it. */
    reported: (word: string) => `it reports "${word}"`,
    ownReport: (took: string | null) =>
      took === null ? 'by its own report' : `by its own report, with answers in ${took}`,
    slowAnswer: (took: string) => `the last answer took ${took}`,
    /** Completes "The vendor's own status page ...". */
    vendor: {
      unknown: 'has not been read yet',
      operational: 'says that all is well',
      maintenance: 'speaks of maintenance',
      minor: 'speaks of a minor incident',
      major: 'speaks of a major incident',
      critical: 'speaks of a critical incident',
    } as Readonly<Record<VendorStatus, string>>,
    vendorSince: (said: string, since: Moment): Phrase => say`${said}, since ${since}`,
    vendorStale: (said: Phrase, ago: string): Phrase => say`${said}, ${ago} ago; it could not be read since`,
    vendorUnread: (said: Phrase): Phrase => say`${said} when it was last read`,
  },
  page: englishServicePage,
  statusPage: englishStatusPage,
};

/** What every language has. */
export type Words = typeof english;

type WordOf<Key extends string> = Readonly<Record<Key, string>>;
