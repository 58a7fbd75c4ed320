/**
 * Why an attempt of a check, or another request, failed: a class, the phase, and a cause, which is a code with its
 * parameters and its English text for the API, the log and the command line. Other languages are in `src/language/`.
 */
import { type Coded, isKnown, type ParamsOf, textOf } from './coded-text.ts';
import type { CredentialProblem } from './credential-seal.ts';
import { inSeconds } from './durations.ts';

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
  'content',
  'forbidden_address',
] as const;

export type FailureClass = (typeof FAILURE_CLASSES)[number];

export const PHASES = ['dns', 'connect', 'tls', 'first_byte', 'body'] as const;

/** The part of a request in which something happened. */
export type Phase = (typeof PHASES)[number];

export interface Caused {
  readonly cause: FailureCause;
}

/** A failure apart from its phase. */
export interface Symptom extends Caused {
  readonly class: FailureClass;
}

/** A failure of the target, with the phase it happened in. */
export interface Failure extends Symptom {
  readonly phase: Phase;
}

/** A failure in a store: versions before 0.2 stored an English text in place of the cause. */
export interface StoredFailure extends Omit<Failure, 'cause'> {
  readonly cause?: FailureCause;
  /** The cause in English. */
  readonly detail?: string;
}

/** Why an address may not be dialled. */
export type AddressRefusal = Extract<
  FailureCause,
  { readonly code: 'address_invalid' | 'address_not_public' | 'port_forbidden' }
>;

export function failureOf(kind: FailureClass, phase: Phase, cause: FailureCause): Failure {
  return { class: kind, phase, cause };
}

/** Symptoms of a failing service, after its name. */
const SYMPTOMS: Readonly<Record<FailureClass, string>> = {
  dns: 'does not resolve in DNS',
  refused: 'refuses connections',
  unreachable: 'cannot be reached',
  tls: 'cannot be reached securely',
  timeout: 'does not answer',
  protocol: 'sends invalid answers',
  status: 'is returning errors',
  body: 'does not report that it is healthy',
  content: 'does not answer as expected',
  forbidden_address: 'leads to an address that may not be checked',
};

const ADDRESS_PROBLEMS = {
  too_long: ({ maxLength }: { readonly maxLength: number }) =>
    `an address of over ${maxLength.toLocaleString('en')} characters`,
  unreadable: 'an address that cannot be read',
  /** `scheme` ends with its colon and has at most 40 characters. */
  scheme: ({ scheme }: { readonly scheme: string }) => `an address with the scheme ${scheme}`,
};

/** The problem of an address that cannot be requested, with parameters. */
export type AddressProblemParams = ParamsOf<typeof ADDRESS_PROBLEMS>;

/** The problem of an address that cannot be requested. */
export type AddressProblem = Coded<AddressProblemParams>;

const TIMEOUT_TEXTS: Readonly<Record<Phase, string>> = {
  dns: 'the name was not resolved',
  connect: 'no connection',
  tls: 'no TLS handshake',
  first_byte: 'no answer',
  body: 'the body did not end',
};

const BODY_PROBLEMS = {
  /** `coding` is that of the response, such as `gzip`. */
  undecodable: ({ coding }: { readonly coding: string }) => `the body cannot be decoded (${coding})`,
  charset_unknown: 'the charset of the body is not known',
  not_json: 'the body is not JSON',
  json_too_deep: 'the JSON of the body is nested too deeply',
  too_long_for_json: ({ maxBytes }: { readonly maxBytes: number }) =>
    `the body is longer than ${kibibytes(maxBytes)}, so it is not read as JSON`,
  too_many_values: ({ maxValues }: { readonly maxValues: number }) =>
    `the assertions look at more than ${maxValues.toLocaleString('en')} values of the JSON`,
  too_many_characters: ({ maxCharacters }: { readonly maxCharacters: number }) =>
    `the expressions of the assertions look at more than ${maxCharacters.toLocaleString('en')} characters`,
};

/** Why an assertion about a response cannot be judged, with parameters. */
export type BodyProblemParams = ParamsOf<typeof BODY_PROBLEMS>;

/** Why an assertion about a response cannot be judged. */
export type BodyProblem = Coded<BodyProblemParams>;

const CREDENTIAL_TEXTS: Readonly<Record<CredentialProblem, string>> = {
  no_key: 'this node has no key for them',
  other_key: 'they were encrypted with another key',
  changed: 'they were encrypted for another destination, or changed',
};

/** A code of the system, of OpenSSL or of node:dns, or the text of the parser of HTTP. */
type OfError = { readonly error: string };
type OfBytes = { readonly maxBytes: number };
type OfProblem = { readonly problem: AddressProblem };
/** The status in a health body: no control characters, at most 64 characters. */
type OfWord = { readonly word: string };
type OfText = { readonly text: string };
/** Type of a record, such as `MX`. */
type OfRecord = { readonly record: string };
type OfName = { readonly name: string };
type OfDays = { readonly days: number; readonly minDays: number };

/**
 * Every cause of a failure with its parameters. Foreign texts in them are cut to one line of at most 200 characters when
 * they are shown, and contain no secrets.
 */
const CAUSES = {
  // Name resolution.
  name_not_found: 'the name does not exist',
  name_without_address: 'the name has no address',
  name_invalid: 'the name cannot be asked for',
  name_servers_failed: 'the name servers of the domain fail (SERVFAIL)',
  name_servers_silent: 'the name servers of the domain do not answer',
  own_name_server_refused: 'our name server refuses to answer (REFUSED)',
  own_name_server_silent: 'our name server does not answer',
  own_name_server_unreachable: 'our name server cannot be reached',
  own_name_server_truncates: 'our name server truncates its reply and does not send the rest over TCP',
  name_unresolved: ({ error }: OfError) => `the name could not be resolved (${error})`,

  // Addresses that may not be dialled.
  name_not_public: 'the name leads to an address that is not public',
  address_invalid: ({ address }: { readonly address: string }) => `${address} is not an address`,
  /** `purpose` is what the address is reserved for, such as `private` or `loopback`. */
  address_not_public: ({ address, purpose }: { readonly address: string; readonly purpose: string }) =>
    `${address} is not public (${purpose})`,
  port_forbidden: ({ port }: { readonly port: number }) => `port ${port} may not be probed`,
  /** The check is made later, in milliseconds. */
  address_busy: ({ waitMs }: { readonly waitMs: number }) =>
    `its address has as many of our checks as it may have; this one waits for ${Math.ceil(waitMs / 1_000)} s`,

  // Connection and TLS.
  connection_refused: 'the connection was refused',
  connection_failed: ({ error }: OfError) => `no connection (${error})`,
  certificate_expired: 'the certificate has expired',
  /** `name` is the common name of the intermediate certificate. */
  intermediate_expired: ({ name }: OfName) => `the intermediate certificate ${name} has expired`,
  certificate_not_yet_valid: 'the certificate is not valid yet',
  certificate_revoked: 'the certificate is revoked',
  certificate_self_signed: 'the certificate is self-signed',
  certificate_untrusted: 'the certificate comes from an authority that is not trusted',
  /** `name` is the common name of the issuer of the last certificate that the server sends. */
  certificate_issuer_missing: ({ name }: OfName) =>
    `the chain of certificates is incomplete: the server does not send ${name}, which is no trusted authority`,
  certificate_chain_incomplete: 'the chain of certificates is incomplete or not trusted',
  certificate_wrong_name: 'the certificate is for another name',
  certificate_weak: 'the certificate is not acceptable, such as one with a weak key or signature',
  client_certificate_missing: 'the server requires a client certificate',
  client_certificate_refused: ({ error }: OfError) => `the server refuses the client certificate (${error})`,
  http1_missing: 'the server speaks HTTP/2 only, and no HTTP/1.1',
  http2_missing: 'the server does not speak HTTP/2',
  tls_name_unknown: 'the server has no certificate for this name',
  tls_version: 'the server speaks only versions of TLS before 1.2',
  tls_no_agreement: 'the server has no certificate for this name, or accepts none of the offered ciphers',
  tls_missing: 'the server does not speak TLS on this port',
  tls_alert: ({ error }: OfError) => `the server ended the TLS handshake (${error})`,
  handshake_closed: 'the connection was closed during the TLS handshake',
  handshake_failed: ({ error }: OfError) => `the TLS handshake failed (${error})`,
  authorities_unreadable: 'the file of trusted authorities cannot be read',

  /** The timeout expired in `phase`. */
  timeout: ({ phase, timeoutMs }: { readonly phase: Phase; readonly timeoutMs: number }) =>
    `${TIMEOUT_TEXTS[phase]} within ${inSeconds(timeoutMs)}`,

  // Response.
  closed_before_response: 'the connection was closed without an answer',
  reset_before_response: 'the connection was reset without an answer',
  cut_after_interim: 'the connection ended after an interim answer',
  cut_in_headers: 'the connection ended in the middle of the headers',
  cut_in_body: 'the connection ended in the middle of the body',
  no_status_line: 'the answer is not HTTP (it begins with no status line)',
  tls_instead_of_http: 'the server speaks TLS on this port, and no plain HTTP',
  invalid_http: ({ error }: OfError) => `the answer is not HTTP (${error})`,
  headers_too_long: ({ maxBytes }: OfBytes) => `the headers are longer than ${kibibytes(maxBytes)}`,
  header_with_nul: 'a header is malformed (it holds a NUL character)',
  lengths_contradict: 'a header is malformed (two lengths that contradict each other)',
  length_invalid: 'a header is malformed (a length that is no number)',
  length_mismatch: 'the body is not as long as announced',
  chunk_invalid: 'the body is malformed (a chunk without a length)',
  trailers_too_long: ({ maxBytes }: OfBytes) => `the trailers are longer than ${kibibytes(maxBytes)}`,
  body_too_long: ({ maxBytes }: OfBytes) => `the body is longer than ${maxBytes} bytes`,
  /** `coding` is that of the response, such as `gzip`. */
  body_undecodable: ({ coding }: { readonly coding: string }) => `the body cannot be decoded (${coding})`,
  too_many_redirects: ({ maxRedirects }: { readonly maxRedirects: number }) =>
    `more than ${maxRedirects} redirects`,
  redirect_invalid: ({ problem }: OfProblem) => `redirected to ${describeAddressProblem(problem)}`,
  /** Our own fault; the target is not requested. */
  credentials_unreadable: ({ problem }: { readonly problem: CredentialProblem }) =>
    `the credentials of the check cannot be decrypted: ${CREDENTIAL_TEXTS[problem]}`,
  /** The service's own address, as it is configured. */
  service_address_invalid: ({ problem }: OfProblem) => `the service has ${describeAddressProblem(problem)}`,

  // Content of the response.
  status: ({ statusCode }: { readonly statusCode: number }) => `answered with status ${statusCode}`,
  health_too_long: ({ maxBytes }: OfBytes) => `the health body is longer than ${kibibytes(maxBytes)}`,
  health_invalid: 'the health body is not JSON with a status',
  reported_down: ({ word }: OfWord) => `the service reports "${word}"`,
  reported_unknown: ({ word }: OfWord) => `the service reports an unknown status "${word}"`,

  // Kinds of checks with expectations of their own.
  greeting_missing: ({ text }: OfText) => `the greeting does not contain "${text}"`,
  greeting_too_long: ({ text, maxBytes }: OfText & OfBytes) =>
    `the first ${maxBytes} bytes of the greeting do not contain "${text}"`,
  assertion_failed: ({ text }: OfText) => `expected: ${text}`,
  assertion_undecided: ({ text, problem }: OfText & { readonly problem: BodyProblem }) =>
    `${textOf(BODY_PROBLEMS, problem, 'the body cannot be judged')}; expected: ${text}`,
  websocket_handshake_invalid: ({ error }: OfError) => `the WebSocket handshake is invalid (${error})`,
  frame_invalid: ({ error }: OfError) => `a frame of the WebSocket is invalid (${error})`,
  message_too_long: ({ maxBytes }: OfBytes) => `the message is longer than ${kibibytes(maxBytes)}`,
  message_lacks: ({ text }: OfText) => `the first message does not contain "${text}"`,
  message_unmatched: ({ text }: OfText) => `the first message does not match ${text}`,
  /** `closeCode` of RFC 6455; 1006: the connection ended without a close frame. */
  closed_before_message: ({ closeCode }: { readonly closeCode: number }) =>
    closeCode === 1006
      ? 'the connection ended before a message'
      : `the server closed the WebSocket before a message (code ${closeCode})`,
  no_message: ({ timeoutMs }: { readonly timeoutMs: number }) => `no message within ${inSeconds(timeoutMs)}`,
  http2_invalid: ({ error }: OfError) => `the answer is not valid HTTP/2 (${error})`,
  http2_reset: ({ error }: OfError) => `the server ended the call (${error})`,
  answer_too_long: ({ maxBytes }: OfBytes) => `the answer is longer than ${kibibytes(maxBytes)}`,
  grpc_content_type: ({ text }: OfText) => `the answer is not gRPC (content-type "${text}")`,
  grpc_status_missing: 'the answer has no gRPC status',
  grpc_message_invalid: 'the message of the health service cannot be read',
  grpc_unimplemented:
    'the server has no health service: add grpc.health.v1.Health to it, or check its port by tcp',
  grpc_service_unknown: ({ text }: OfText) => `the health service does not know the service "${text}"`,
  /** `status` is a name of gRPC, and `message` the server's own. */
  grpc_status: ({ status, message }: { readonly status: string; readonly message: string }) =>
    `answered with gRPC status ${status}${message === '' ? '' : `: ${message}`}`,
  /** A router or the host itself refused the packets; `error` is what ping says, such as `Destination Host Unreachable`. */
  host_unreachable: ({ error }: OfError) => `the network says: ${error}`,
  ping_missing: 'this machine has no ping: install the package iputils-ping',
  ping_refused: ({ error }: OfError) =>
    `ping cannot send here (${error}): give it cap_net_raw, or add the group of this process to net.ipv4.ping_group_range`,
  // Kinds that talk with a server by a protocol of its own.
  not_protocol: ({ protocol, text }: { readonly protocol: string } & OfText) =>
    `the answer is not ${protocol}${text === '' ? '' : ` (it begins with "${text}")`}`,
  cut_in_talk: 'the connection ended in the middle of the conversation',
  answer_incomplete: ({ timeoutMs }: { readonly timeoutMs: number }) =>
    `no complete answer within ${inSeconds(timeoutMs)}`,
  server_refuses: ({ error }: OfError) => `the server answers with an error: ${error}`,
  sign_in_refused: ({ error }: OfError) => `the server refuses the sign-in (${error})`,
  sign_in_unknown: ({ error }: OfError) => `the server offers no sign-in that checks can make (${error})`,
  password_in_clear: 'the server wants the password in clear text, which is only sent over TLS',
  query_failed: ({ error }: OfError) => `the query fails (${error})`,
  value_unexpected: ({ text }: OfText) => `the query does not return "${text}"`,
  topic_refused: ({ text }: OfText) => `the broker refuses the topic "${text}"`,
  member_not_ready: 'the member is neither primary nor secondary: it starts or recovers',
  domain_unregistered: 'the registry does not know the domain',
  domain_expired: 'the registration of the domain has ended',
  domain_expires_soon: ({ days, minDays }: OfDays) =>
    `the registration of the domain ends in ${days} days, fewer than ${minDays}`,
  domain_out_of_use: ({ text }: OfText) => `the registry has taken the domain out of use (${text})`,
  registration_unknown: ({ error }: OfError) =>
    `the registry does not say when the registration ends (${error})`,
  registry_missing: ({ text }: OfText) => `no registry is known for .${text}: name its RDAP server`,
  container_missing: ({ text }: OfText) => `there is no container ${text}`,
  /** `exitCode` of its process; 0 also where it has not ended. */
  container_stopped: ({ state, exitCode }: { readonly state: string; readonly exitCode: number }) =>
    `the container is not running (${state}${exitCode === 0 ? '' : `, exit code ${exitCode}`})`,
  container_unhealthy: ({ text }: OfText) =>
    `the container is unhealthy${text === '' ? '' : ` (its health check says: ${text})`}`,
  socket_unusable: ({ path, error }: { readonly path: string } & OfError) =>
    `the socket ${path} cannot be used here (${error})`,
  account_untrusted: 'only checks of accounts that the operator trusts may ask for containers',
  tls_not_offered: 'the server does not offer TLS',
  record_missing: ({ record }: OfRecord) => `the name has no ${record} record`,
  record_lacks: ({ record, text }: OfRecord & OfText) => `no ${record} record is ${text}`,
  record_unexpected: ({ record }: OfRecord) => `there is an ${record} record that is not expected`,
  server_failed: 'the name server fails (SERVFAIL)',
  server_refused: 'the name server refuses to answer (REFUSED)',
  server_truncates: 'the name server truncates its reply and does not send the rest over TCP',
  certificate_expires_soon: ({ days, minDays }: OfDays) =>
    `the certificate is valid for another ${days} days, fewer than ${minDays}`,
  intermediate_expires_soon: ({ name, days, minDays }: OfName & OfDays) =>
    `the intermediate certificate ${name} is valid for another ${days} days, fewer than ${minDays}`,

  /** English text that another version stored; it is shown unchanged. */
  text: ({ text }: { readonly text: string }) => text,
};

export type FailureCauseParams = ParamsOf<typeof CAUSES>;

/** Why something failed. */
export type FailureCause = Coded<FailureCauseParams>;

/** The cause of a failure in one line of at most 200 characters, as in `no answer within 10 s`. */
export function describeCause({ cause }: Caused): string {
  return oneLine(textOf(CAUSES, cause, 'for an unknown reason'));
}

/** The symptom of a failing service, after its name, as in `is returning errors (HTTP 503)` and `does not answer`. */
export function describeSymptom({ class: kind, cause }: Symptom): string {
  if (cause.code === 'status') return `${SYMPTOMS[kind]} (HTTP ${cause.statusCode})`;
  if (cause.code === 'timeout' && cause.phase === 'first_byte')
    return `does not answer within ${inSeconds(cause.timeoutMs)}`;
  if (cause.code === 'reported_down') return `reports "${oneLine(cause.word)}"`;
  if (cause.code === 'reported_unknown') return `reports an unknown status "${oneLine(cause.word)}"`;
  return SYMPTOMS[kind];
}

/** A failure in one line after the name of the service: the symptom, then the cause where that says more. */
export function describeFailure(failure: Failure): string {
  return withCause(describeSymptom(failure), failure, describeCause(failure));
}

/** Causes that the symptom says. */
const SAID: ReadonlySet<string> = new Set([
  'connection_refused',
  'status',
  'reported_down',
  'reported_unknown',
]);

/** A symptom with the text of its cause, where that says more. */
export function withCause(symptom: string, { cause }: Caused, text: string): string {
  const isSaid = SAID.has(cause.code) || (cause.code === 'timeout' && cause.phase === 'first_byte');
  return text === '' || isSaid ? symptom : `${symptom} (${text})`;
}

/** An address that cannot be requested, as in `an address that cannot be read`. */
export function describeAddressProblem(problem: AddressProblem): string {
  return textOf(ADDRESS_PROBLEMS, problem, 'an address that cannot be requested');
}

/** Converts a failure for a store. The text beside the cause is for versions that do not know the cause. */
export function toStoredFailure(failure: Failure): StoredFailure {
  return { ...failure, detail: describeCause(failure) };
}

/** Converts a failure from a store; an unknown cause becomes its text. */
export function fromStoredFailure({ class: kind, phase, cause, detail = '' }: StoredFailure): Failure {
  const known = cause !== undefined && isKnown(CAUSES, cause);
  return { class: kind, phase, cause: known ? cause : { code: 'text', text: detail } };
}

/** Returns true if this version has a text for the cause of a failure. */
export function isKnownFailure({ cause }: Caused): boolean {
  return isKnown(CAUSES, cause);
}

/** Foreign text on one line of at most 200 characters, without control characters. */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
  return line.length <= 200 ? line : `${line.slice(0, 199)}…`;
}

/** A size of whole KiB as text. */
export function kibibytes(bytes: number): string {
  return `${bytes / 1024} KiB`;
}
