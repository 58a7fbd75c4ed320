/** The overall verdict of a status page, and the number of services by status. */
import type { ServiceStatus } from '../status.ts';

/** How a service counts on a page: `paused` and `maintenance` override the status of its last check. */
export type PageStanding = ServiceStatus | 'maintenance' | 'paused';

/** Statuses of a whole page, the worst first. */
export const PAGE_STATUSES = ['down', 'slow', 'maintenance', 'up', 'unknown'] as const;

/** Status of a whole page. */
type PageStatus = (typeof PAGE_STATUSES)[number];

/** The verdict of a page. */
export interface PageVerdict {
  readonly status: PageStatus;
  readonly counts: Readonly<Record<PageStanding, number>>;
  /** Number of services that are not paused. */
  readonly watched: number;
}

/**
 * How a service counts. A paused one counts as paused whatever its last status; one that is down or slow during an announced
 * maintenance counts as in maintenance.
 */
export function standingOf(status: ServiceStatus, paused: boolean, inMaintenance: boolean): PageStanding {
  if (paused) return 'paused';
  return inMaintenance && (status === 'down' || status === 'slow') ? 'maintenance' : status;
}

/** The worst status of the services that are not paused; `unknown` if none was ever checked. */
export function judgePage(standings: readonly PageStanding[]): PageVerdict {
  const counts = { up: 0, slow: 0, down: 0, unknown: 0, maintenance: 0, paused: 0 };
  for (const standing of standings) counts[standing]++;
  const status = PAGE_STATUSES.find((word) => counts[word] > 0) ?? 'unknown';
  return { status, counts, watched: standings.length - counts.paused };
}
