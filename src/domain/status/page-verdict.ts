/** The overall verdict of a status page, and the number of services by status. */
import type { OwnerSeverity } from '../incident/owner-incident.ts';
import type { ServiceStatus } from '../status.ts';

/** The standing of a service on a page: `paused` and `maintenance` override the status of its last check. */
export type PageStanding = ServiceStatus | 'maintenance' | 'paused';

/** Statuses of a whole page, the worst first. */
export const PAGE_STATUSES = ['down', 'slow', 'maintenance', 'up', 'unknown'] as const;

export type PageStatus = (typeof PAGE_STATUSES)[number];

/** The owner's present posts on a page, apart from what checks see. */
export interface OwnersWord {
  /** Severity of the worst open incident; null: none is open. */
  readonly reported: OwnerSeverity | null;
  /** True if announced maintenance is in progress. */
  readonly inMaintenance: boolean;
}

export interface PageVerdict extends OwnersWord {
  /** The worst status that checks see. */
  readonly status: PageStatus;
  /** The status whose colour and shape the page has: `status`, or worse by the word of the owner. */
  readonly look: PageStatus;
  readonly counts: Readonly<Record<PageStanding, number>>;
  /** Number of services that are not paused. */
  readonly watched: number;
}

/**
 * Returns the standing of a service. A paused one counts as paused whatever its last status; one that is down or slow during
 * an announced maintenance counts as in maintenance.
 */
export function standingOf(status: ServiceStatus, paused: boolean, inMaintenance: boolean): PageStanding {
  if (paused) return 'paused';
  return inMaintenance && (status === 'down' || status === 'slow') ? 'maintenance' : status;
}

const LOOKS: Readonly<Record<OwnerSeverity, PageStatus>> = { minor: 'slow', major: 'down', critical: 'down' };

/** The worst status of the services that are not paused, `unknown` if none was ever checked, beside the word of the owner. */
export function judgePage(
  standings: readonly PageStanding[],
  { reported, inMaintenance }: OwnersWord,
): PageVerdict {
  const counts = { up: 0, slow: 0, down: 0, unknown: 0, maintenance: 0, paused: 0 };
  for (const standing of standings) counts[standing]++;
  const statuses: ReadonlySet<PageStatus> = new Set(PAGE_STATUSES.filter((word) => counts[word] > 0));
  const looks = new Set(statuses);
  if (reported !== null) looks.add(LOOKS[reported]);
  if (inMaintenance) looks.add('maintenance');
  const worst = (words: ReadonlySet<PageStatus>) =>
    PAGE_STATUSES.find((word) => words.has(word)) ?? 'unknown';
  const watched = standings.length - counts.paused;
  return { status: worst(statuses), look: worst(looks), reported, inMaintenance, counts, watched };
}
