/**
 * Why an attempt of a check, or another request, failed: a class, the phase, and a cause, which is a code with its
 * parameters. English texts are in `failure-text.ts`, those of other languages in `src/web/language/`.
 */
import type { Coded, NoParams } from './coded-text.ts';

/** Classes of failures (architecture, "Target failure is data"). */
export const FAILURE_CLASSES = [
  'dns',
  'refused',
  'unreachable',
  'tls',
  'timeout',
  'protocol',
  'status',
  'body',
  'forbidden_address',
] as const;

/** Class of a failure. */
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** The phases of a request in their order. */
export const PHASES = ['dns', 'connect', 'tls', 'first_byte', 'body'] as const;

/** The part of a request in which something happened. */
export type Phase = (typeof PHASES)[number];

/** A failure of the target, with the phase it happened in. */
export interface Failure {
  readonly class: FailureClass;
  readonly phase: Phase;
  readonly cause: FailureCause;
}

/** A failure in a store: versions before 0.2 stored an English text in place of the cause. */
export interface StoredFailure extends Omit<Failure, 'cause'> {
  readonly cause?: FailureCause;
  /** The cause in English. */
  readonly detail?: string;
}

/** What is wrong with an address that cannot be requested, with parameters. */
export interface AddressProblemParams {
  /** In characters. */
  readonly too_long: { readonly maxLength: number };
  readonly unreadable: NoParams;
  /** `scheme` ends with its colon and has at most 40 characters. */
  readonly scheme: { readonly scheme: string };
}

/** What is wrong with an address that cannot be requested. */
export type AddressProblem = Coded<AddressProblemParams>;

/**
 * Every cause of a failure with its parameters. Foreign texts in them are cut to one line of at most 200 characters when
 * they are shown, and contain no secrets. `error` is a code of the system, of OpenSSL or of node:dns.
 */
export interface FailureCauseParams {
  // Name resolution.
  readonly name_not_found: NoParams;
  readonly name_without_address: NoParams;
  readonly name_invalid: NoParams;
  readonly name_servers_failed: NoParams;
  readonly name_servers_silent: NoParams;
  readonly own_name_server_refused: NoParams;
  readonly own_name_server_silent: NoParams;
  readonly own_name_server_unreachable: NoParams;
  readonly name_unresolved: { readonly error: string };

  // Addresses that may not be dialled.
  readonly name_not_public: NoParams;
  readonly address_invalid: { readonly address: string };
  /** `purpose` is what the address is reserved for, such as `private` or `loopback`. */
  readonly address_not_public: { readonly address: string; readonly purpose: string };
  readonly port_forbidden: { readonly port: number };

  // Connection and TLS.
  readonly connection_refused: NoParams;
  readonly connection_failed: { readonly error: string };
  readonly certificate_expired: NoParams;
  readonly certificate_not_yet_valid: NoParams;
  readonly certificate_revoked: NoParams;
  readonly certificate_self_signed: NoParams;
  readonly certificate_untrusted: NoParams;
  readonly certificate_chain_incomplete: NoParams;
  readonly certificate_wrong_name: NoParams;
  readonly handshake_closed: NoParams;
  readonly handshake_failed: { readonly error: string };
  readonly authorities_unreadable: NoParams;

  /** The time-out ran out in `phase`. */
  readonly timeout: { readonly phase: Phase; readonly timeoutMs: number };

  // Response.
  readonly closed_before_response: NoParams;
  readonly reset_before_response: NoParams;
  readonly cut_after_interim: NoParams;
  readonly cut_in_headers: NoParams;
  readonly cut_in_body: NoParams;
  readonly no_status_line: NoParams;
  /** `error` is the parser's text. */
  readonly invalid_http: { readonly error: string };
  readonly headers_too_long: { readonly maxBytes: number };
  readonly header_with_nul: NoParams;
  readonly lengths_contradict: NoParams;
  readonly length_invalid: NoParams;
  readonly length_mismatch: NoParams;
  readonly chunk_invalid: NoParams;
  readonly trailers_too_long: { readonly maxBytes: number };
  readonly body_too_long: { readonly maxBytes: number };
  readonly coding_unknown: NoParams;
  readonly too_many_redirects: { readonly maxRedirects: number };
  readonly redirect_invalid: { readonly problem: AddressProblem };
  /** The service's own address, as it is configured. */
  readonly service_address_invalid: { readonly problem: AddressProblem };

  // Content of the response.
  readonly status: { readonly statusCode: number };
  readonly health_too_long: { readonly maxBytes: number };
  readonly health_invalid: NoParams;
  /** `word` is the status in the health body: no control characters, at most 64 characters. */
  readonly reported_down: { readonly word: string };
  readonly reported_unknown: { readonly word: string };

  /** English text that another version stored; it is shown unchanged. */
  readonly text: { readonly text: string };
}

/** Why something failed. */
export type FailureCause = Coded<FailureCauseParams>;

/** Why an address may not be dialled. */
export type AddressRefusal = Extract<
  FailureCause,
  { readonly code: 'address_invalid' | 'address_not_public' | 'port_forbidden' }
>;

/** Makes a failure. */
export function failureOf(kind: FailureClass, phase: Phase, cause: FailureCause): Failure {
  return { class: kind, phase, cause };
}
