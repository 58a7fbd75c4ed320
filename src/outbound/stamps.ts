/** How long the phases of a request took; those of its redirects are added up, so that phases explain the total. */

/** Milliseconds with a fraction; null: the phase did not happen. */
export interface Stamps {
  /** Null too where no query was sent: a literal, the hosts file, the cache. */
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  /** Not after of the certificate that ends first among those met, epoch milliseconds; null: no TLS. */
  certificateExpiresAt: number | null;
}

/** Stamps of a request that has not begun. */
export function newStamps(): Stamps {
  return { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, certificateExpiresAt: null };
}

/** Notes the end of a certificate; the earliest counts. */
export function noteCertificate(stamps: Stamps, expiresAt: number): void {
  if (Number.isNaN(expiresAt)) return;
  stamps.certificateExpiresAt = Math.min(expiresAt, stamps.certificateExpiresAt ?? expiresAt);
}
