/** Texts of the pages about this installation, and about how long vendors take to report outages, in English. */

import { inSeconds } from '../../domain/durations.ts';
import type { Quorum } from '../../domain/region.ts';

/** Texts of the page that compares how long vendors take to report outages, in English. */

/** Counts of the sentence above the table. */
interface Counts {
  readonly outages: number;
  readonly vendors: number;
  readonly acknowledged: number;
}

/** The texts. */
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

/** The texts of this page. */
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
