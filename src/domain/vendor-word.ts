/** What a vendor says of its own service, in one word beside our verdict. */
import type { Severity } from './incident.ts';

/**
 * From good to bad: nothing open, only maintenance, then the worst severity of what is open. `unknown`: the page was
 * never read.
 */
export const VENDOR_STATUSES = [
  'unknown',
  'operational',
  'maintenance',
  'minor',
  'major',
  'critical',
] as const;

/** A vendor's word. */
export type VendorStatus = (typeof VENDOR_STATUSES)[number];

/** A vendor's word on one service. */
export interface VendorWord {
  /** The page for people. */
  readonly url: string;
  /** Kind of the page. */
  readonly kind: string;
  readonly status: VendorStatus;
  /** When that began, epoch milliseconds; null: not known, as where the vendor never had an incident. */
  readonly since: number | null;
  /** The incident that it stands for; null: none is open. */
  readonly incidentId: string | null;
  /** When the page was last read, epoch milliseconds; null: never. */
  readonly readAt: number | null;
  /** The page was not read for so long that its word may be out of date. */
  readonly stale: boolean;
}

/** An incident of the vendor that is not resolved. */
export interface OpenVendorIncident {
  readonly id: string;
  readonly severity: Severity;
  /** Epoch milliseconds. */
  readonly startedAt: number;
}

/** The incident that speaks for the service: the worst, of these the newest; null: none is open. */
export function worstOf(open: readonly OpenVendorIncident[]): OpenVendorIncident | null {
  let worst: OpenVendorIncident | null = null;
  for (const incident of open) {
    const graver = worst === null ? 1 : rank(incident.severity) - rank(worst.severity);
    if (graver > 0 || (graver === 0 && worst !== null && incident.startedAt > worst.startedAt))
      worst = incident;
  }
  return worst;
}

function rank(severity: Severity): number {
  return VENDOR_STATUSES.indexOf(severity);
}
