/** Texts of the status pages of owners and of subscriptions by e-mail, in English. */
import type { PageStanding, PageVerdict } from '../../domain/status/page-verdict.ts';
import { type Moment, phraseOf, type WordOf } from '../../language/phrase.ts';

/** Texts of subscriptions by e-mail, in English. */

/** The texts of the pages of subscriptions. */
export const englishSubscribe = {
  byMail: 'By e-mail',
  byMailFor: 'for people: down, up, incidents and maintenance',
  title: (what: string) => `Subscribe to ${what}`,
  category: (title: string) => `all services of the category ${title}`,
  lead: (what: string) =>
    `You get an e-mail when ${what} goes down or comes back, and about incidents and maintenance: at most one for each change.`,
  address: 'E-mail address',
  subscribe: 'Subscribe',
  promise:
    'The first e-mail asks you to confirm. Your address is stored encrypted, shown to nobody, and deleted when you unsubscribe. Every e-mail has a link for that.',
  invalid: 'This is not an e-mail address.',
  sentTitle: 'Check your inbox',
  sent: 'If this address can receive e-mail, a message with a link to confirm is on its way. The link is valid for 48 hours.',
  sentHint: 'Nothing arrived? Check the spam folder. An address gets at most 5 of these messages a day.',
  confirmTitle: 'Confirm',
  confirmLead: (what: string) => `Do you want e-mail about ${what}?`,
  confirm: 'Yes, send me e-mail',
  confirmedTitle: 'Subscription confirmed',
  confirmed: (what: string) => `You will get e-mail about ${what}.`,
  endTitle: 'Unsubscribe',
  endLead: (what: string) => `Do you want to stop getting e-mail about ${what}?`,
  end: 'Unsubscribe',
  endedTitle: 'You have unsubscribed',
  ended: 'Your address has been deleted. You will get no more e-mail from this subscription.',
  goneTitle: 'This link no longer works',
  gone: 'The subscription has ended, was not confirmed in time, or what it was about is gone.',
  channelTitle: 'Receive alerts',
  channelLead: (account: string, channel: string) =>
    `The account "${account}" wants to send alerts to your address, as its channel "${channel}".`,
  channelConfirm: 'Yes, send me alerts',
  channelConfirmed: (account: string, channel: string) =>
    `You will get the alerts of the channel "${channel}" of the account "${account}".`,
  channelGone: 'The channel is gone, or its address has changed.',
  stopLead: (account: string, channel: string) =>
    `Do you want to stop getting the alerts of the channel "${channel}" of the account "${account}"?`,
  stop: 'Stop these alerts',
  stoppedTitle: 'Alerts stopped',
  stopped: (account: string, channel: string) =>
    `You get no more alerts of the channel "${channel}" of the account "${account}", whose owners can see that.`,
  resume: 'Get them again',
  back: 'Back',
  home: 'All services',
  subscribers: (count: number) =>
    count === 1 ? '1 person gets e-mail about it.' : `${count} people get e-mail about it.`,
  tooMany: (seconds: number) => `Too many attempts. Wait ${seconds} s.`,
};

const some = (count: number, all: number, verb: (are: string) => string): string => {
  if (all === 1) return `the service ${verb('is')}`;
  if (count === all) return `all ${all} services ${verb('are')}`;
  return `${count} of ${all} services ${verb(count === 1 ? 'is' : 'are')}`;
};

/** The texts of status pages. */
export const englishStatusPage = {
  notFound: 'Page not found',
  noPage: (slug: string) => `No status page has the address "${slug}".`,
  noHome: (slug: string) =>
    `This site begins with the status page "${slug}", which does not exist yet or is not public.`,
  forMembers: 'If it is for members only, sign in.',
  locked: 'This page needs a password',
  lockedLead: 'Enter the password that you were given. You stay signed in to this page for 30 days.',
  password: 'Password',
  unlock: 'Show the page',
  wrongPassword: 'This is not the password.',
  tooManyPasswords: (seconds: number) => `Too many wrong passwords. Try again in ${seconds} s.`,
  lockedForMembers: 'Members of the account sign in.',
  home: 'All services',
  /** The headline is made of clauses: what the owner reports, and what checks see. */
  incidentReported: 'incident reported',
  inMaintenance: 'maintenance in progress',
  checksPass: 'our checks pass',
  lastKnown: (clause: string) => `last known: ${clause}`,
  seen({ status, counts, watched }: PageVerdict): string {
    if (status === 'unknown')
      return watched === 0 ? 'no service is monitored here at the moment' : 'no service has been checked yet';
    if (status === 'maintenance')
      return some(counts.maintenance, watched, (are) => `${are} under maintenance`);
    const texts = { up: 'operational', slow: 'slow', down: 'down' } as const;
    return some(counts[status], watched, (are) => `${are} ${texts[status]}`);
  },
  empty: 'No service is listed here yet.',
  standing: {
    up: 'Operational',
    slow: 'Slow',
    down: 'Down',
    unknown: 'Unknown',
    maintenance: 'Maintenance',
    paused: 'Paused',
  } satisfies WordOf<PageStanding>,
  selfReported: 'reported by its owner, not verified',
  old: 'last check is old',
  bars: (service: string, uptime: string | null) =>
    uptime === null ? `${service}, 90 days: no checks` : `${service}, 90 days: ${uptime} up`,
  upOver: (uptime: string, days: number) => `${uptime} ${days === 1 ? 'today' : `in ${days} days`}`,
  maintenance: 'Maintenance',
  maintenanceRunning: 'In progress',
  maintenanceAhead: 'Scheduled',
  recentlyResolved: 'Recently resolved',
  calendar: 'Maintenance in your calendar',
  calendarFile: 'Calendar as a file (iCalendar)',
  runningIncidents: 'Open incidents',
  pastIncidents: 'Past incidents',
  noPast: 'Nothing else is known.',
  eachBar: 'Each bar is a day (UTC):',
  subscribe: 'Subscribe',
  noSuchIncidents: 'No matching incidents.',
  whichService: 'Service',
  anyService: 'all services',
  filter: { all: 'open and past', running: 'open', past: 'past' },
  newer: 'Newer',
  older: 'Older',
  from: (starts: Moment) => phraseOf`from ${starts}`,
  lasting: (length: string) => `for ${length}`,
  follow: 'Subscribe to this page',
  atom: 'Incidents as Atom',
  json: 'This page as JSON',
  madeWith: 'Powered by',
  details: 'Details',
  toPage: 'To the status page',
  others: (count: number) => `and ${count} more`,
};
