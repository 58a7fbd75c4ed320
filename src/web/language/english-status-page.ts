/** Texts of the status pages of owners, of their editor, and of subscriptions by e-mail, in English. */
import type { PageStanding, PageVerdict } from '../../domain/status/outage-verdict.ts';
import { type Moment, type Phrase, phraseOf, type WordOf } from '../../language/phrase.ts';

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

const services = (count: number) => (count === 1 ? '1 service' : `${count} services`);

const picture = (formats: readonly string[], kib: number, pixels: number) =>
  `Picture: ${formats.join(', ')}, up to ${kib} KiB and ${pixels} pixels`;

export const englishPageEditor = {
  lead: 'A status page shows services of your choice, public ones and your own, under your title and logo. Anyone can read it.',
  noPages: 'None yet.',
  about: (slug: string, count: number, changed: Moment): Phrase =>
    phraseOf`/p/${slug}, ${services(count)}, changed ${changed}`,
  showPage: 'Show the page',
  showOf: (title: string) => `Show the page ${title}`,
  newPage: 'New page',
  title: 'Title',
  titleExample: 'Acme services',
  address: 'Address, after',
  bounds: (pages: number, most: number) =>
    `An account can have ${pages} pages with ${most} services each. An address stays reserved for its account, even after the page is deleted.`,

  titleAndText: 'Title and text',
  look: 'Appearance and access',
  saveLook: 'Save appearance and access',
  colour: 'Brand colour (empty: none)',
  pickColour: 'Choose the colour',
  colourHint:
    'Shown as a bar across the top of the page. Links have it too, made darker or lighter until they can be read.',
  readers: 'Who sees the page',
  access: {
    public: { label: 'Everyone', hint: 'Anyone who has the address.' },
    members: {
      label: 'Members of this account',
      hint: 'For everyone else the page does not exist. Its services keep their own pages.',
    },
    password: {
      label: 'Everyone with the password',
      hint: 'Visitors enter it once in 30 days. A new password ends the access of everyone who had the old one.',
    },
  },
  password: 'Password, 12 characters or more',
  newPassword: 'New password, 12 characters or more (empty: the present one stays)',
  text: 'Introduction, shown below the title',
  note: 'Note for members',
  of: (count: number, most: number) => `${count} of at most ${most}`,
  noServices: 'None yet. Search for services below. Groups give them headings.',
  noHeading: 'Without a heading',
  groupUp: (group: string) => `Move the group ${group} up`,
  groupDown: (group: string) => `Move the group ${group} down`,
  emptyGroup: 'This group is empty. Empty groups are not shown.',
  service: (id: number) => `Service ${id}`,
  gone: 'A service that currently does not exist. It is not shown.',
  privateShown: 'Private: visitors see this name, the status and the uptime, and nothing else.',
  privateHidden: 'Private, and not shown until it has a name for this page.',
  entryMore: 'Name on this page',
  entryName: (name: string) => `Name of ${name} on this page`,
  entryPlaceholder: 'Private: name on this page',
  up: (name: string) => `Move ${name} up`,
  down: (name: string) => `Move ${name} down`,
  removeOf: (name: string) => `Remove ${name} from the page`,
  groupMore: 'Rename or remove the group',
  rename: 'Rename',
  goesToo: (count: number) =>
    count === 1
      ? 'Its service is removed from the page as well.'
      : `Its ${count} services are removed from the page as well.`,
  removeGroup: 'Remove the group',
  removeGroupOf: (group: string) => `Remove the group ${group}`,
  newGroup: 'New group',
  newGroupName: 'Name of the new group',
  groupExample: 'Payments',
  addGroup: 'Add the group',
  addServices: 'Add services',
  searchHint: 'Name or domain',
  searchLabel: 'Name or domain of a service',
  search: 'Search',
  noneChosen: 'Choose at least one service.',
  addChosen: 'Add the chosen services',
  noMatch: 'No further service matches.',
  intoGroup: 'Into the group',
  more: (count: number) => `and ${count} more: type more of the name.`,

  logo: {
    heading: 'Logo',
    alt: 'The logo',
    remove: 'Remove the logo',
    hint: 'Stands beside the title.',
    label: picture,
  },
  favicon: {
    heading: 'Favicon',
    alt: 'The favicon',
    remove: 'Remove the favicon',
    hint: 'Stands in tabs and bookmarks. A square of 32 or more pixels looks best.',
    label: picture,
  },
  replace: 'Replace',
  replaceOf: (what: string) => `Replace: ${what}`,
  upload: 'Upload',
  uploadOf: (what: string) => `Upload: ${what}`,

  domain: 'Domain of your own',
  domainName: 'Domain (empty: none)',
  domainHint:
    'Once it is verified, the page is at this domain alone, and its address on this site leads there. Point the DNS of the domain at this site. A page for members stays on this site.',
  saveDomain: 'Save the domain',
  domainProof: 'Prove in one of two ways that the domain is yours, then press Verify.',
  domainProved: (at: Moment): Phrase =>
    phraseOf`Verified ${at}. Leave the proof in place: it is checked again every day.`,
  domainMissing: (since: Moment): Phrase =>
    phraseOf`The proof has been missing since ${since}. After three days, the page returns to its address on this site.`,
  domainUnproved: phraseOf`Not verified yet.`,

  share: 'Share and embed',
  addressOf: 'Address of the page',
  copyAddress: 'Copy the address',
  asScript: 'As a script that adjusts its height',
  copyScript: 'Copy the script',
  asFrame: 'As a frame',
  copyFrame: 'Copy the frame',
  both: 'Both show the overall status and the affected services. To choose the theme, set',
  onScript: 'on the script or',
  onFrame: "in the frame's URL.",
  forPrograms: 'For programs:',

  toDelete: 'To delete the page, enter its address',
  toDeletePage: (slug: string) => `To delete the page, enter its address: ${slug}`,

  noSuchButton: 'There is no such button.',
};
