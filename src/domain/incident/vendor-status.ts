/** The vendor status: what a vendor says of its own service, shown beside our status. */
import type { Severity } from './incident.ts';

/**
 * From good to bad: no open incident, only maintenance, then the highest severity of the open incidents. `unknown`: the page
 * was never read.
 */
export const VENDOR_STATUSES = [
  'unknown',
  'operational',
  'maintenance',
  'minor',
  'major',
  'critical',
] as const;

export type VendorStatus = (typeof VENDOR_STATUSES)[number];

export interface ServiceVendorStatus {
  /** The page for people. */
  readonly url: string;
  /** Kind of the page. */
  readonly kind: string;
  readonly status: VendorStatus;
  /** The time at which the status began, epoch milliseconds; null: unknown, for example if the vendor never had an incident. */
  readonly since: number | null;
  /** The incident that determines the status; null: none is open. */
  readonly incidentId: string | null;
  /** The time at which the page was last read, epoch milliseconds; null: never. */
  readonly readAt: number | null;
  /** The page was not read for so long that the status may be outdated. */
  readonly stale: boolean;
}

/** An incident of the vendor that is not resolved. */
export interface OpenVendorIncident {
  readonly id: string;
  readonly severity: Severity;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** The incident that determines the status: the most severe, and of these the newest; null: none is open. */
export function worstOf(open: readonly OpenVendorIncident[]): OpenVendorIncident | null {
  let worst: OpenVendorIncident | null = null;
  for (const incident of open) {
    const difference = worst === null ? 1 : rank(incident.severity) - rank(worst.severity);
    if (difference > 0 || (difference === 0 && worst !== null && incident.startedAt > worst.startedAt))
      worst = incident;
  }
  return worst;
}

function rank(severity: Severity): number {
  return VENDOR_STATUSES.indexOf(severity);
}
