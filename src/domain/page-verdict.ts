/** The overall verdict of a status page: one word over all its services, and how many are how. */
import type { ServiceStatus } from './status.ts';

/** How a service counts on a page: `paused` and `maintenance` explain away what its last check says. */
export type PageStanding = ServiceStatus | 'maintenance' | 'paused';

/** The words for a whole page, the worst first. */
export const PAGE_STATUSES = ['down', 'slow', 'maintenance', 'up', 'unknown'] as const;

/** The word for a whole page. */
export type PageStatus = (typeof PAGE_STATUSES)[number];

/** What is true of a page as a whole. */
export interface PageVerdict {
  readonly status: PageStatus;
  readonly counts: Readonly<Record<PageStanding, number>>;
  /** Services that are watched: all but the paused ones. */
  readonly watched: number;
}

/**
 * How a service stands. A paused one is not watched, whatever was seen last; one within a maintenance that was
 * announced is not called down or slow; what works is called so.
 */
export function standingOf(status: ServiceStatus, paused: boolean, inMaintenance: boolean): PageStanding {
  if (paused) return 'paused';
  return inMaintenance && (status === 'down' || status === 'slow') ? 'maintenance' : status;
}

/** The worst of the services that are watched; `unknown` where none was ever checked. */
export function judgePage(standings: readonly PageStanding[]): PageVerdict {
  const counts = { up: 0, slow: 0, down: 0, unknown: 0, maintenance: 0, paused: 0 };
  for (const standing of standings) counts[standing]++;
  const status = PAGE_STATUSES.find((word) => counts[word] > 0) ?? 'unknown';
  return { status, counts, watched: standings.length - counts.paused };
}
