import t from 'tap';
import {
  answerFault,
  connectFault,
  nameFault,
  oneLine,
  targetFault,
  timeoutFault,
  tlsFault,
} from '../../src/outbound/fault.ts';

const failing = (code: string, message = code) => Object.assign(new Error(message), { code });

t.test('it holds the faults of this machine for our own', async (t) => {
  const own = [
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
  ];
  for (const code of own) {
    t.match(connectFault(failing(code)), { failure: { class: 'unreachable' }, suspect: 'own_fault' }, code);
  }
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH', 'ETIMEDOUT', 'ECONNRESET']) {
    t.equal(connectFault(failing(code)).suspect, null, code);
  }
});

t.test('it tells a refused connection from a target out of reach', async (t) => {
  t.same(connectFault(failing('ECONNREFUSED')).failure, {
    class: 'refused',
    phase: 'connect',
    detail: 'the connection was refused',
  });
  t.same(connectFault(failing('EHOSTUNREACH')).failure, {
    class: 'unreachable',
    phase: 'connect',
    detail: 'no connection (EHOSTUNREACH)',
  });
});

t.test('it says what is wrong with a certificate or handshake', async (t) => {
  const details: Readonly<Record<string, string>> = {
    CERT_HAS_EXPIRED: 'the certificate has expired',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the chain of certificates is incomplete or not trusted',
    ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another name',
    ECONNRESET: 'the connection was closed during the TLS handshake',
    ERR_SSL_WRONG_VERSION_NUMBER: 'the TLS handshake failed (ERR_SSL_WRONG_VERSION_NUMBER)',
  };
  for (const [code, detail] of Object.entries(details)) {
    t.same(tlsFault(failing(code)), { failure: { class: 'tls', phase: 'tls', detail }, suspect: null });
  }
});

t.test('it keeps silence apart from an answer that is malformed', async (t) => {
  const rows = [
    [
      answerFault(null, 'nothing'),
      'unreachable',
      'first_byte',
      'the connection was closed without an answer',
    ],
    [
      answerFault('ECONNRESET', 'nothing'),
      'unreachable',
      'first_byte',
      'the connection was reset without an answer',
    ],
    [answerFault(null, 'interim'), 'protocol', 'first_byte', 'the connection ended after an interim answer'],
    [
      answerFault('ECONNRESET', 'headers'),
      'protocol',
      'first_byte',
      'the connection ended in the middle of the headers',
    ],
    [answerFault(null, 'body'), 'protocol', 'body', 'the connection ended in the middle of the body'],
  ] as const;
  for (const [fault, kind, phase, detail] of rows) {
    t.same(fault, { failure: { class: kind, phase, detail }, suspect: null });
  }
});

t.test('it says whose fault it is that a name was not resolved', async (t) => {
  t.same(nameFault('ENOTFOUND', false), {
    failure: { class: 'dns', phase: 'dns', detail: 'the name does not exist' },
    suspect: null,
  });
  t.match(nameFault('ETIMEOUT', false).failure.detail, 'of the domain');
  t.match(nameFault('ETIMEOUT', true), { failure: { detail: /our name server/ }, suspect: 'own_fault' });
  t.match(nameFault('EWHATEVER', false).failure.detail, 'EWHATEVER');
});

t.test('it distrusts a time-out whose name server was silent', async (t) => {
  t.same(timeoutFault('first_byte', 10_000, false), {
    failure: { class: 'timeout', phase: 'first_byte', detail: 'no answer within 10000 ms' },
    suspect: null,
  });
  t.equal(timeoutFault('dns', 10_000, true).suspect, 'own_fault');
});

t.test('it puts the words of others on one short line', async (t) => {
  t.equal(oneLine('a\r\nb\u0000c\u2028d\u202ee'), 'a b c d e');
  t.equal(targetFault('body', 'body', 'x'.repeat(500)).failure.detail.length, 200);
});
