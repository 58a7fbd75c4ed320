/** Texts of the page about this installation, in English. */

import { inSeconds } from '../../domain/durations.ts';
import type { Quorum } from '../../domain/region.ts';

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
