/** Durations of the phases of a request. Those of its redirects are added up, so that the phases explain the total. */

/** Milliseconds with a fraction. Null: the phase did not happen. */
export interface PhaseTimings {
  /** Also null if no query was sent, because of a literal address, the hosts file or the cache. */
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  /** End of validity of the certificate that ends first, epoch milliseconds; null: no TLS. */
  certificateExpiresAt: number | null;
}

/** Timings of a request that has not begun. */
export function newPhaseTimings(): PhaseTimings {
  return { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, certificateExpiresAt: null };
}

/** Records the end of a certificate's validity; the earliest one is kept. */
export function noteCertificate(timings: PhaseTimings, expiresAt: number): void {
  if (Number.isNaN(expiresAt)) return;
  timings.certificateExpiresAt = Math.min(expiresAt, timings.certificateExpiresAt ?? expiresAt);
}
