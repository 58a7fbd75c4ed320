/** Failures in English, as the API and the log have them: `detail` of a failure is part of the contract. */
import t from 'tap';
import {
  describeCause,
  describeFailure,
  type FAILURE_CLASSES,
  type FailureCause,
  fromStoredFailure,
  PHASES,
  toStoredFailure,
} from '../../src/domain/failure.ts';
import { FAILURE_CAUSES } from './failure-causes.ts';

const DETAILS: Readonly<Record<keyof typeof FAILURE_CAUSES, string>> = {
  name_not_found: 'the name does not exist',
  name_without_address: 'the name has no address',
  name_invalid: 'the name cannot be asked for',
  name_servers_failed: 'the name servers of the domain fail (SERVFAIL)',
  name_servers_silent: 'the name servers of the domain do not answer',
  own_name_server_refused: 'our name server refuses to answer (REFUSED)',
  own_name_server_silent: 'our name server does not answer',
  own_name_server_unreachable: 'our name server cannot be reached',
  own_name_server_truncates: 'our name server truncates its reply and does not send the rest over TCP',
  name_unresolved: 'the name could not be resolved (EBADRESP)',
  name_not_public: 'the name leads to an address that is not public',
  address_invalid: 'fe80::1%eth0 is not an address',
  address_not_public: '10.1.1.1 is not public (private)',
  port_forbidden: 'port 22 may not be probed',
  address_busy: 'its address has as many of our checks as it may have; this one waits for 2 s',
  connection_refused: 'the connection was refused',
  connection_failed: 'no connection (EHOSTUNREACH)',
  certificate_expired: 'the certificate has expired',
  intermediate_expired: 'the intermediate certificate R10 has expired',
  intermediate_expires_soon: 'the intermediate certificate R10 is valid for another 3 days, fewer than 14',
  certificate_not_yet_valid: 'the certificate is not valid yet',
  certificate_revoked: 'the certificate is revoked',
  certificate_self_signed: 'the certificate is self-signed',
  certificate_untrusted: 'the certificate comes from an authority that is not trusted',
  certificate_issuer_missing:
    'the chain of certificates is incomplete: the server does not send R11, which is no trusted authority',
  certificate_chain_incomplete: 'the chain of certificates is incomplete or not trusted',
  certificate_wrong_name: 'the certificate is for another name',
  handshake_closed: 'the connection was closed during the TLS handshake',
  certificate_weak: 'the certificate is not acceptable, such as one with a weak key or signature',
  client_certificate_missing: 'the server requires a client certificate',
  client_certificate_refused: 'the server refuses the client certificate (unknown ca)',
  http1_missing: 'the server speaks HTTP/2 only, and no HTTP/1.1',
  http2_missing: 'the server does not speak HTTP/2',
  tls_name_unknown: 'the server has no certificate for this name',
  tls_version: 'the server speaks only versions of TLS before 1.2',
  tls_no_agreement: 'the server has no certificate for this name, or accepts none of the offered ciphers',
  tls_missing: 'the server does not speak TLS on this port',
  tls_alert: 'the server ended the TLS handshake (internal error)',
  handshake_failed: 'the TLS handshake failed (bad signature)',
  authorities_unreadable: 'the file of trusted authorities cannot be read',
  timeout: 'no answer within 10 s',
  closed_before_response: 'the connection was closed without an answer',
  reset_before_response: 'the connection was reset without an answer',
  cut_after_interim: 'the connection ended after an interim answer',
  cut_in_headers: 'the connection ended in the middle of the headers',
  cut_in_body: 'the connection ended in the middle of the body',
  no_status_line: 'the answer is not HTTP (it begins with no status line)',
  tls_instead_of_http: 'the server speaks TLS on this port, and no plain HTTP',
  invalid_http: 'the answer is not HTTP (Invalid header token)',
  headers_too_long: 'the headers are longer than 64 KiB',
  header_with_nul: 'a header is malformed (it holds a NUL character)',
  lengths_contradict: 'a header is malformed (two lengths that contradict each other)',
  length_invalid: 'a header is malformed (a length that is no number)',
  length_mismatch: 'the body is not as long as announced',
  chunk_invalid: 'the body is malformed (a chunk without a length)',
  trailers_too_long: 'the trailers are longer than 64 KiB',
  body_too_long: 'the body is longer than 1000 bytes',
  body_undecodable: 'the body cannot be decoded (gzip)',
  too_many_redirects: 'more than 5 redirects',
  redirect_invalid: 'redirected to an address with the scheme ftp:',
  service_address_invalid: 'the service has an address that cannot be read',
  status: 'answered with status 503',
  health_too_long: 'the health body is longer than 64 KiB',
  health_invalid: 'the health body is not JSON with a status',
  reported_down: 'the service reports "down"',
  reported_unknown: 'the service reports an unknown status "on fire"',
  greeting_missing: 'the greeting does not contain "220 "',
  greeting_too_long: 'the first 4096 bytes of the greeting do not contain "220 "',
  assertion_failed: 'expected: time below 800',
  assertion_undecided:
    'the body is longer than 256 KiB, so it is not read as JSON; expected: json $.a lacks b',
  websocket_handshake_invalid: 'the WebSocket handshake is invalid (Invalid Sec-WebSocket-Accept header)',
  frame_invalid: 'a frame of the WebSocket is invalid (MASK must be clear)',
  message_too_long: 'the message is longer than 64 KiB',
  message_lacks: 'the first message does not contain "ready"',
  message_unmatched: 'the first message does not match ^ready',
  closed_before_message: 'the server closed the WebSocket before a message (code 1013)',
  no_message: 'no message within 10 s',
  credentials_unreadable:
    'the credentials of the check cannot be decrypted: they were encrypted with another key',
  http2_invalid: 'the answer is not valid HTTP/2 (Protocol error)',
  http2_reset: 'the server ended the call (REFUSED_STREAM)',
  answer_too_long: 'the answer is longer than 4 KiB',
  grpc_content_type: 'the answer is not gRPC (content-type "text/html")',
  grpc_status_missing: 'the answer has no gRPC status',
  grpc_message_invalid: 'the message of the health service cannot be read',
  grpc_unimplemented:
    'the server has no health service: add grpc.health.v1.Health to it, or check its port by tcp',
  grpc_service_unknown: 'the health service does not know the service "shop.Orders"',
  grpc_status: 'answered with gRPC status UNAVAILABLE: draining',
  host_unreachable: 'the network says: Destination Host Unreachable',
  ping_missing: 'this machine has no ping: install the package iputils-ping',
  ping_refused:
    'ping cannot send here (socktype: SOCK_RAW): give it cap_net_raw, or add the group of this process to net.ipv4.ping_group_range',
  not_protocol: 'the answer is not SMTP (it begins with "HTTP/1.1 400")',
  cut_in_talk: 'the connection ended in the middle of the conversation',
  answer_incomplete: 'no complete answer within 10 s',
  server_refuses: 'the server answers with an error: 421 4.3.2 shutting down',
  sign_in_refused: 'the server refuses the sign-in (535 5.7.8 invalid credentials)',
  sign_in_unknown: 'the server offers no sign-in that checks can make (GSSAPI)',
  password_in_clear: 'the server wants the password in clear text, which is only sent over TLS',
  query_failed: 'the query fails (42P01 relation missing)',
  value_unexpected: 'the query does not return "1"',
  topic_refused: 'the broker refuses the topic "house/#"',
  member_not_ready: 'the member is neither primary nor secondary: it starts or recovers',
  container_missing: 'there is no container web',
  container_stopped: 'the container is not running (exited, exit code 137)',
  container_unhealthy: 'the container is unhealthy (its health check says: timed out)',
  socket_unusable: 'the socket /var/run/docker.sock cannot be used here (ENOENT)',
  account_untrusted: 'only checks of accounts that the operator trusts may ask for containers',
  domain_unregistered: 'the registry does not know the domain',
  domain_expired: 'the registration of the domain has ended',
  domain_expires_soon: 'the registration of the domain ends in 6 days, fewer than 14',
  domain_out_of_use: 'the registry has taken the domain out of use (client hold)',
  registration_unknown: 'the registry does not say when the registration ends (it answers with status 503)',
  registry_missing: 'no registry is known for .de: name its RDAP server',
  tls_not_offered: 'the server does not offer TLS',
  record_missing: 'the name has no MX record',
  record_lacks: 'no MX record is 10 mail.example.com',
  record_unexpected: 'there is an A record that is not expected',
  server_failed: 'the name server fails (SERVFAIL)',
  server_refused: 'the name server refuses to answer (REFUSED)',
  server_truncates: 'the name server truncates its reply and does not send the rest over TCP',
  certificate_expires_soon: 'the certificate is valid for another 6 days, fewer than 14',
};

t.test('it describes every cause in English', async (t) => {
  t.same(
    Object.fromEntries(
      Object.entries(FAILURE_CAUSES).map(([code, cause]) => [code, describeCause({ cause })]),
    ),
    DETAILS,
  );
  const timeouts = PHASES.map((phase) =>
    describeCause({ cause: { code: 'timeout', phase, timeoutMs: 250 } }),
  );
  t.same(timeouts, [
    'the name was not resolved within 250 ms',
    'no connection within 250 ms',
    'no TLS handshake within 250 ms',
    'no answer within 250 ms',
    'the body did not end within 250 ms',
  ]);
});

t.test('it says what a failing service does, then why, without repetition', async (t) => {
  const whole = (kind: (typeof FAILURE_CLASSES)[number], cause: FailureCause) =>
    describeFailure({ class: kind, phase: 'connect', cause });
  t.equal(whole('refused', { code: 'connection_refused' }), 'refuses connections');
  t.equal(whole('status', { code: 'status', statusCode: 404 }), 'is returning errors (HTTP 404)');
  t.equal(whole('dns', { code: 'name_not_found' }), 'does not resolve in DNS (the name does not exist)');
  t.equal(whole('tls', { code: 'text', text: '' }), 'cannot be reached securely');
  t.equal(
    whole('timeout', { code: 'timeout', phase: 'first_byte', timeoutMs: 10_000 }),
    'does not answer within 10 s',
  );
  t.equal(
    whole('protocol', { code: 'no_status_line' }),
    'sends invalid answers (the answer is not HTTP (it begins with no status line))',
  );
  t.equal(
    whole('protocol', { code: 'too_many_redirects', maxRedirects: 5 }),
    'sends invalid answers (more than 5 redirects)',
  );
  t.equal(
    whole('body', { code: 'health_invalid' }),
    'does not report that it is healthy (the health body is not JSON with a status)',
  );
  t.equal(whole('timeout', { code: 'text', text: '' }), 'does not answer');
});

t.test(
  'it reads back the failure that it stored, and shows what other versions stored as text',
  async (t) => {
    for (const cause of Object.values(FAILURE_CAUSES)) {
      const failure = { class: 'protocol', phase: 'body', cause } as const;
      const stored = JSON.parse(JSON.stringify(toStoredFailure(failure)));
      t.equal(stored.detail, describeCause(failure));
      t.same(fromStoredFailure(stored), failure);
    }
    const stored = { class: 'tls', phase: 'tls', detail: 'the certificate has expired' } as const;
    const shown = { class: 'tls', phase: 'tls', cause: { code: 'text', text: stored.detail } };
    t.same(fromStoredFailure(stored), shown, 'before 0.2');
    const later = JSON.parse('{"code":"certificate_odd"}');
    t.same(fromStoredFailure({ ...stored, cause: later }), shown, 'a later version');
  },
);
