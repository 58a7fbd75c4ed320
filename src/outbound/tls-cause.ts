/** The causes of TLS errors, by the codes of OpenSSL and Node.js. Pure. */
import type { FailureCause } from '../domain/failure.ts';

/** The state of a connection whose TLS failed. */
export interface TlsState {
  /** True if the server had sent its certificate: what failed then is not the choice of versions and ciphers. */
  readonly certificateSeen: boolean;
  /** True if the check has a client certificate. */
  readonly offersCertificate: boolean;
  /** The protocol that was offered by ALPN; undefined: none. */
  readonly protocol: string | undefined;
}

/** Causes by the codes for certificates of the server. */
const CERTIFICATE_CAUSES = new Map<string, FailureCause>([
  ['CERT_HAS_EXPIRED', { code: 'certificate_expired' }],
  ['CERT_NOT_YET_VALID', { code: 'certificate_not_yet_valid' }],
  ['CERT_REVOKED', { code: 'certificate_revoked' }],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', { code: 'certificate_self_signed' }],
  ['SELF_SIGNED_CERT_IN_CHAIN', { code: 'certificate_untrusted' }],
  ['UNABLE_TO_GET_ISSUER_CERT', { code: 'certificate_untrusted' }],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', { code: 'certificate_untrusted' }],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', { code: 'certificate_chain_incomplete' }],
  ['ERR_TLS_CERT_ALTNAME_INVALID', { code: 'certificate_wrong_name' }],
  ['HOSTNAME_MISMATCH', { code: 'certificate_wrong_name' }],
  // Such as a signature with SHA-1 or a key of 512 bits, which browsers refuse too.
  ['UNSPECIFIED', { code: 'certificate_weak' }],
]);

/** Causes by the names of alerts of the server, and of errors of its records. */
const SERVER_CAUSES = new Map<string, FailureCause>([
  ['CERTIFICATE_REQUIRED', { code: 'client_certificate_missing' }],
  ['UNRECOGNIZED_NAME', { code: 'tls_name_unknown' }],
  ['PROTOCOL_VERSION', { code: 'tls_version' }],
  ['UNSUPPORTED_PROTOCOL', { code: 'tls_version' }],
  ['INSUFFICIENT_SECURITY', { code: 'tls_no_agreement' }],
  ['WRONG_VERSION_NUMBER', { code: 'tls_missing' }],
  ['PACKET_LENGTH_TOO_LONG', { code: 'tls_missing' }],
]);

/** Alerts that concern the certificate of the client, which alone the server judges. */
const CLIENT_CERTIFICATE_ALERTS = new Set([
  ...['BAD_CERTIFICATE', 'UNSUPPORTED_CERTIFICATE', 'CERTIFICATE_REVOKED', 'CERTIFICATE_EXPIRED'],
  ...['CERTIFICATE_UNKNOWN', 'UNKNOWN_CA', 'ACCESS_DENIED'],
]);

/** `ERR_SSL_TLSV1_ALERT_UNKNOWN_CA`; OpenSSL names alerts by the version that introduced them. */
const SSL_CODE = /^ERR_SSL_((?:SSL\/TLS|SSLV3|TLSV1|TLSV13)_(?:ALERT_)?)?(.+)$/;

/** Returns true if a code is that of an error of TLS on an open connection. */
export function isTlsCode(code: string): boolean {
  return code.startsWith('ERR_SSL_');
}

/** The cause of a failed handshake, of a refused certificate, or of an alert after the handshake. */
export function tlsCause(
  code: string,
  { certificateSeen, offersCertificate, protocol }: TlsState,
): FailureCause {
  const known = CERTIFICATE_CAUSES.get(code);
  if (known !== undefined) return known;
  const [, alert, name = code] = SSL_CODE.exec(code) ?? [];
  const error = name.toLowerCase().replaceAll('_', ' ');
  if (name === 'NO_APPLICATION_PROTOCOL')
    return { code: protocol === 'h2' ? 'http2_missing' : 'http1_missing' };
  // A server that speaks TLS 1.2 ends the handshake where it gets no certificate of a client (RFC 5246, 7.4.6).
  const refused = name === 'HANDSHAKE_FAILURE' && certificateSeen;
  if (alert !== undefined && (refused || CLIENT_CERTIFICATE_ALERTS.has(name)))
    return offersCertificate
      ? { code: 'client_certificate_refused', error }
      : { code: 'client_certificate_missing' };
  if (name === 'HANDSHAKE_FAILURE') return { code: 'tls_no_agreement' };
  return (
    SERVER_CAUSES.get(name) ??
    (alert === undefined ? { code: 'handshake_failed', error } : { code: 'tls_alert', error })
  );
}
