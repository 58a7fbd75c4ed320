/**
 * What pages say, in English: the source of all keys, which every other language has exactly. A sentence is one entry,
 * with functions where something stands inside it: languages differ in the order of words. Sentences with times are
 * phrases.
 */
import { CATEGORY_TITLES, type Category } from '../../domain/category.ts';
import type { IncidentStatus, Severity } from '../../domain/incident.ts';
import type { ServiceStatus } from '../../domain/status.ts';
import { englishBadges } from './english-badges.ts';
import { englishDashboard } from './english-dashboard.ts';
import { englishPageEditor } from './english-page-editor.ts';
import { englishService } from './english-service.ts';
import { englishServicePage } from './english-service-page.ts';
import { englishStatusPage } from './english-status-page.ts';
import { type Moment, say } from './phrase.ts';

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
  badges: englishBadges,
  dashboard: englishDashboard,
  pageEditor: englishPageEditor,
  service: englishService,
  page: englishServicePage,
  statusPage: englishStatusPage,
};

/** What every language has. */
export type Words = typeof english;

type WordOf<Key extends string> = Readonly<Record<Key, string>>;
