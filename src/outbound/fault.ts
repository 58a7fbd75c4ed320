/** Converts errors of sockets, TLS, HTTP and name servers to failures of the target or faults of our own. */
import {
  type Failure,
  type FailureCause,
  type FailureClass,
  failureOf,
  type Phase,
} from '../domain/failure.ts';
import type { SuspectReason } from '../domain/result.ts';
import { isTlsCode, type TlsState, tlsCause } from './tls-cause.ts';

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
