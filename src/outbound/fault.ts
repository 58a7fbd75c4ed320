/** Converts errors of sockets, TLS, HTTP and name servers to failures of the target or faults of our own. */
import {
  type Failure,
  type FailureCause,
  type FailureClass,
  failureOf,
  type Phase,
} from '../domain/failure.ts';
import type { SuspectReason } from '../domain/result.ts';

/** Why a request failed. */
export interface Fault {
  readonly failure: Failure;
  /** Set where the fault is, or may be, on our side (decisions, "When the prober itself is offline"). */
  readonly suspect: SuspectReason | null;
}

/**
 * System error codes that concern this machine, never the target: its descriptors and memory, its ports and addresses, its network and
 * routes, its firewall. `EHOSTUNREACH`, `ETIMEDOUT`, `ECONNREFUSED` and `ECONNRESET` are also what the network says of a target.
 */
const OWN_FAULT_CODES: ReadonlySet<string> = new Set([
  ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ENOSR'],
  ...['EADDRINUSE', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT'],
  ...['ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'ENONET', 'ENODEV', 'ECONNABORTED', 'EAI_AGAIN'],
  // What Linux returns for routes of the types `prohibit` and `blackhole`, and for packets that its firewall rejects.
  ...['EACCES', 'EINVAL', 'EPERM'],
]);

/** Returns true if a system error code concerns this machine, never the target. */
export function isOwnCode(code: string): boolean {
  return OWN_FAULT_CODES.has(code);
}

/** Causes by the codes of node:dns. */
const NAME_CAUSES = new Map<string, FailureCause>([
  ['ENOTFOUND', { code: 'name_not_found' }],
  ['ENODATA', { code: 'name_without_address' }],
  ['EBADNAME', { code: 'name_invalid' }],
  ['ESERVFAIL', { code: 'name_servers_failed' }],
  ['EREFUSED', { code: 'own_name_server_refused' }],
  ['ETIMEOUT', { code: 'name_servers_silent' }],
  ['ECONNREFUSED', { code: 'own_name_server_unreachable' }],
  ['ETRUNCATED', { code: 'own_name_server_truncates' }],
]);

export function targetFault(kind: FailureClass, phase: Phase, cause: FailureCause): Fault {
  return { failure: failureOf(kind, phase, cause), suspect: null };
}

/** The fault of a connection that must wait, because its address has as many as it may. It says nothing of the target. */
export function busyFault(waitMs: number): Fault {
  return { failure: failureOf('timeout', 'connect', { code: 'address_busy', waitMs }), suspect: 'own_fault' };
}

/** The fault of an expired timeout. `ownFault`: the request was waiting for something on our side. */
export function timeoutFault(phase: Phase, timeoutMs: number, ownFault: boolean): Fault {
  return {
    failure: failureOf('timeout', phase, { code: 'timeout', phase, timeoutMs }),
    suspect: ownFault ? 'own_fault' : null,
  };
}

/** The fault of a name that was not resolved. `code` is that of node:dns. */
export function nameFault(code: string, ownFault: boolean): Fault {
  const cause: FailureCause =
    code === 'ETIMEOUT' && ownFault
      ? { code: 'own_name_server_silent' }
      : (NAME_CAUSES.get(code) ?? { code: 'name_unresolved', error: code });
  return { failure: failureOf('dns', 'dns', cause), suspect: ownFault ? 'own_fault' : null };
}

/** The fault of a connection that was not made. */
export function connectFault({ code = 'unknown error' }: NodeJS.ErrnoException): Fault {
  const failure =
    code === 'ECONNREFUSED'
      ? failureOf('refused', 'connect', { code: 'connection_refused' })
      : failureOf('unreachable', 'connect', { code: 'connection_failed', error: code });
  return { failure, suspect: suspectOf(code) };
}

function suspectOf(code: string): SuspectReason | null {
  return isOwnCode(code) ? 'own_fault' : null;
}

/** The fault of a TLS handshake that failed, or of a certificate that is not accepted. */
export function tlsFault({ code = '', message }: NodeJS.ErrnoException, state: TlsState): Fault {
  const closed = code === 'ECONNRESET' || code === 'EPIPE';
  const cause = closed ? ({ code: 'handshake_closed' } as const) : tlsCause(code || message, state);
  return { ...targetFault('tls', 'tls', cause), suspect: suspectOf(code) };
}

/** The part of a response that had arrived when its connection broke. */
export type ResponseProgress = 'nothing' | 'interim' | 'headers' | 'body';

/**
 * The fault of a connection that broke after it was made. No response at all is `unreachable`, an incomplete one is
 * `protocol`, and an alert of TLS in place of a response is `tls`, since TLS 1.3 refuses clients after the handshake. `code` is that of
 * the system or of OpenSSL; null: the other side closed the connection.
 */
export function responseFault(
  code: string | null,
  progress: ResponseProgress,
  offersCertificate = false,
): Fault {
  if (progress === 'nothing' && code !== null && isTlsCode(code))
    return targetFault(
      'tls',
      'tls',
      tlsCause(code, { certificateSeen: true, offersCertificate, protocol: undefined }),
    );
  return { ...lossFault(code, progress), suspect: suspectOf(code ?? '') };
}

function lossFault(code: string | null, progress: ResponseProgress): Fault {
  switch (progress) {
    case 'body':
      return targetFault('protocol', 'body', { code: 'cut_in_body' });
    case 'headers':
      return targetFault('protocol', 'first_byte', { code: 'cut_in_headers' });
    case 'interim':
      return targetFault('protocol', 'first_byte', { code: 'cut_after_interim' });
    case 'nothing': {
      const reset = code === 'ECONNRESET';
      return targetFault('unreachable', 'first_byte', {
        code: reset ? 'reset_before_response' : 'closed_before_response',
      });
    }
  }
}

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
function tlsCause(code: string, { certificateSeen, offersCertificate, protocol }: TlsState): FailureCause {
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
