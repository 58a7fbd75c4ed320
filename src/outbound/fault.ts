/** From the errors of sockets, TLS, HTTP and name servers to a failure of the target, or a fault of our own. */
import type { Failure, FailureClass, Phase, SuspectReason } from '../domain/result.ts';

/** Why a request came to nothing. */
export interface Fault {
  readonly failure: Failure;
  /** Set where the fault is, or may be, on our side (decisions, "When the prober itself is offline"). */
  readonly suspect: SuspectReason | null;
}

/** Codes of the system that speak of this machine, never of the target. */
const OWN_FAULT_CODES = new Set([
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'ENOMEM',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'EAI_AGAIN',
  'EACCES',
  'EPERM',
]);

/** What certificate errors mean, by OpenSSL's and Node's codes. */
const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate comes from an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of certificates is incomplete or not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
  HOSTNAME_MISMATCH: 'the certificate is for another name',
};

/** A fault of the target; `text` is cut to one line of at most 200 characters. */
export function targetFault(kind: FailureClass, phase: Phase, text: string): Fault {
  return { failure: { class: kind, phase, detail: oneLine(text) }, suspect: null };
}

/** Time ran out. `ownFault`: what was waited for is on our side. */
export function timeoutFault(phase: Phase, timeoutMs: number, ownFault: boolean): Fault {
  const detail = `${TIMEOUT_WORDS[phase]} within ${timeoutMs} ms`;
  return {
    failure: { class: 'timeout', phase, detail },
    suspect: ownFault ? 'own_fault' : null,
  };
}

const TIMEOUT_WORDS: Readonly<Record<Phase, string>> = {
  dns: 'the name was not resolved',
  connect: 'no connection',
  tls: 'no TLS handshake',
  first_byte: 'no answer',
  body: 'the body did not end',
};

/** The fault of a name that led to no address. `code` is that of node:dns. */
export function nameFault(code: string, ownFault: boolean): Fault {
  const words: Readonly<Record<string, string>> = {
    ENOTFOUND: 'the name does not exist',
    ENODATA: 'the name has no address',
    EBADNAME: 'the name cannot be asked for',
    ESERVFAIL: 'the name servers of the domain fail (SERVFAIL)',
    EREFUSED: 'our name server refuses to answer (REFUSED)',
    ETIMEOUT: ownFault ? 'our name server does not answer' : 'the name servers of the domain do not answer',
    ECONNREFUSED: 'our name server cannot be reached',
  };
  return {
    failure: {
      class: 'dns',
      phase: 'dns',
      detail: words[code] ?? `the name could not be resolved (${code})`,
    },
    suspect: ownFault ? 'own_fault' : null,
  };
}

/** The fault of a connection that was not made. */
export function connectFault(error: NodeJS.ErrnoException): Fault {
  const code = error.code ?? 'unknown error';
  const failure: Failure = {
    class: code === 'ECONNREFUSED' ? 'refused' : 'unreachable',
    phase: 'connect',
    detail: code === 'ECONNREFUSED' ? 'the connection was refused' : `no connection (${oneLine(code)})`,
  };
  return { failure, suspect: OWN_FAULT_CODES.has(code) ? 'own_fault' : null };
}

/** The fault of a TLS handshake that failed, or of a certificate that is not accepted. */
export function tlsFault(error: NodeJS.ErrnoException): Fault {
  const code = error.code ?? '';
  const known = CERTIFICATE_PROBLEMS[code];
  if (known !== undefined) return targetFault('tls', 'tls', known);
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return targetFault('tls', 'tls', 'the connection was closed during the TLS handshake');
  }
  return targetFault('tls', 'tls', `the TLS handshake failed (${code || error.message})`);
}

/** How far an answer had come when its connection broke. */
export type AnswerProgress = 'nothing' | 'interim' | 'headers' | 'body';

/**
 * The fault of a connection that broke after it was made: silence is kept apart from an answer that is not whole.
 * `code` is that of the system; null: the other side closed it.
 */
export function answerFault(code: string | null, progress: AnswerProgress): Fault {
  switch (progress) {
    case 'body':
      return targetFault('protocol', 'body', 'the connection ended in the middle of the body');
    case 'headers':
      return targetFault('protocol', 'first_byte', 'the connection ended in the middle of the headers');
    case 'interim':
      return targetFault('protocol', 'first_byte', 'the connection ended after an interim answer');
    case 'nothing': {
      const how = code === 'ECONNRESET' ? 'was reset' : 'was closed';
      return targetFault('unreachable', 'first_byte', `the connection ${how} without an answer`);
    }
  }
}

/** Text of others on one line of at most 200 characters, without control characters. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}
