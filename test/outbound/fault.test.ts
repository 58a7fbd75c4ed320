import t from 'tap';
import { describeCause, oneLine } from '../../src/domain/failure.ts';
import {
  connectFault,
  type Fault,
  isOwnCode,
  nameFault,
  responseFault,
  type TlsState,
  targetFault,
  timeoutFault,
  tlsFault,
} from '../../src/outbound/fault.ts';

const BEGUN: TlsState = { certificateSeen: false, offersCertificate: false, protocol: 'http/1.1' };

/** A fault with its cause in English. */
const described = ({ failure, suspect }: Fault) => ({
  class: failure.class,
  phase: failure.phase,
  detail: describeCause(failure),
  suspect,
});

const failing = (code: string, message = code) => Object.assign(new Error(message), { code });

t.test('it holds the faults of this machine for our own', async (t) => {
  const own = [
    ...['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ENOSR'],
    ...['EADDRINUSE', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT'],
    ...['ENETUNREACH', 'ENETDOWN', 'ENETRESET', 'ENONET', 'ENODEV', 'ECONNABORTED', 'EAI_AGAIN'],
    ...['EACCES', 'EINVAL', 'EPERM'],
  ];
  const targets = [
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'EHOSTDOWN',
    'ETIMEDOUT',
    'ECONNRESET',
    'EPIPE',
    'ENOPROTOOPT',
  ];
  for (const code of [...own, ...targets]) {
    const suspect = own.includes(code) ? 'own_fault' : null;
    const refused = code === 'ECONNREFUSED';
    const found = connectFault(failing(code));
    t.match(found, { failure: { class: refused ? 'refused' : 'unreachable' }, suspect }, code);
    t.equal(tlsFault(failing(code), BEGUN).suspect, suspect, `${code} during the handshake`);
    t.equal(responseFault(code, 'nothing').suspect, suspect, `${code} before the response`);
    t.equal(responseFault(code, 'body').suspect, suspect, `${code} within it`);
    t.equal(isOwnCode(code), suspect !== null);
  }
});

t.test('it distinguishes a refused connection from a target out of reach', async (t) => {
  t.same(connectFault(failing('ECONNREFUSED')).failure, {
    class: 'refused',
    phase: 'connect',
    cause: { code: 'connection_refused' },
  });
  t.same(connectFault(failing('EHOSTUNREACH')).failure, {
    class: 'unreachable',
    phase: 'connect',
    cause: { code: 'connection_failed', error: 'EHOSTUNREACH' },
  });
});

t.test('it says what is wrong with a certificate or handshake', async (t) => {
  const seen = { ...BEGUN, certificateSeen: true };
  const offered = { ...seen, offersCertificate: true };
  const rows: readonly (readonly [code: string, state: TlsState, detail: string])[] = [
    ['CERT_HAS_EXPIRED', seen, 'the certificate has expired'],
    ['CERT_NOT_YET_VALID', seen, 'the certificate is not valid yet'],
    ['CERT_REVOKED', seen, 'the certificate is revoked'],
    ['SELF_SIGNED_CERT_IN_CHAIN', seen, 'the certificate comes from an authority that is not trusted'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', seen, 'the certificate is self-signed'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', seen, 'the chain of certificates is incomplete or not trusted'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', seen, 'the certificate is for another name'],
    ['UNSPECIFIED', seen, 'the certificate is not acceptable, such as one with a weak key or signature'],
    ['INVALID_PURPOSE', seen, 'the TLS handshake failed (invalid purpose)'],
    ['ECONNRESET', BEGUN, 'the connection was closed during the TLS handshake'],
    ['EPIPE', BEGUN, 'the connection was closed during the TLS handshake'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', BEGUN, 'the server does not speak TLS on this port'],
    ['ERR_SSL_PACKET_LENGTH_TOO_LONG', BEGUN, 'the server does not speak TLS on this port'],
    ['ERR_SSL_UNSUPPORTED_PROTOCOL', BEGUN, 'the server speaks only versions of TLS before 1.2'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', BEGUN, 'the server speaks only versions of TLS before 1.2'],
    ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL', BEGUN, 'the server speaks HTTP/2 only, and no HTTP/1.1'],
    [
      'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL',
      { ...BEGUN, protocol: 'h2' },
      'the server does not speak HTTP/2',
    ],
    ['ERR_SSL_TLSV1_UNRECOGNIZED_NAME', BEGUN, 'the server has no certificate for this name'],
    [
      'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
      BEGUN,
      'the server has no certificate for this name, or accepts none of the offered ciphers',
    ],
    ['ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE', seen, 'the server requires a client certificate'],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', seen, 'the server requires a client certificate'],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', seen, 'the server requires a client certificate'],
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', offered, 'the server refuses the client certificate (unknown ca)'],
    ['ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR', BEGUN, 'the server ended the TLS handshake (internal error)'],
    ['ERR_SSL_DH_KEY_TOO_SMALL', BEGUN, 'the TLS handshake failed (dh key too small)'],
  ];
  for (const [code, state, detail] of rows)
    t.same(
      described(tlsFault(failing(code), state)),
      { class: 'tls', phase: 'tls', detail, suspect: null },
      code,
    );
  t.match(described(responseFault('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'nothing')), {
    class: 'tls',
    phase: 'tls',
    detail: 'the server requires a client certificate',
  });
});

t.test('it keeps silence apart from an answer that is malformed', async (t) => {
  const rows = [
    [
      responseFault(null, 'nothing'),
      'unreachable',
      'first_byte',
      'the connection was closed without an answer',
    ],
    [
      responseFault('ECONNRESET', 'nothing'),
      'unreachable',
      'first_byte',
      'the connection was reset without an answer',
    ],
    [
      responseFault(null, 'interim'),
      'protocol',
      'first_byte',
      'the connection ended after an interim answer',
    ],
    [
      responseFault('ECONNRESET', 'headers'),
      'protocol',
      'first_byte',
      'the connection ended in the middle of the headers',
    ],
    [responseFault(null, 'body'), 'protocol', 'body', 'the connection ended in the middle of the body'],
  ] as const;
  for (const [fault, kind, phase, detail] of rows) {
    t.same(described(fault), { class: kind, phase, detail, suspect: null });
  }
});

t.test('it says whose fault it is that a name was not resolved', async (t) => {
  t.same(nameFault('ENOTFOUND', false), {
    failure: { class: 'dns', phase: 'dns', cause: { code: 'name_not_found' } },
    suspect: null,
  });
  t.match(described(nameFault('ETIMEOUT', false)).detail, 'of the domain');
  t.match(described(nameFault('ETIMEOUT', true)), { detail: /our name server/, suspect: 'own_fault' });
  t.match(described(nameFault('EWHATEVER', false)).detail, 'EWHATEVER');
});

t.test('it distrusts a time-out whose name server was silent', async (t) => {
  t.same(timeoutFault('first_byte', 10_000, false), {
    failure: {
      class: 'timeout',
      phase: 'first_byte',
      cause: { code: 'timeout', phase: 'first_byte', timeoutMs: 10_000 },
    },
    suspect: null,
  });
  t.equal(timeoutFault('dns', 10_000, true).suspect, 'own_fault');
});

t.test('it puts texts of others on one short line', async (t) => {
  t.equal(oneLine('a\r\nb\u0000c\u2028d\u202ee'), 'a b c d e');
  const fault = targetFault('protocol', 'body', { code: 'invalid_http', error: 'x\n'.repeat(500) });
  t.equal(described(fault).detail.length, 200);
});
