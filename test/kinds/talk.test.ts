/** Kinds that talk with a server by a protocol of its own, against servers that do not: no hang, no memory without bound, and a plain reason. */
import type { Socket } from 'node:net';
import t from 'tap';
import type { CheckDefinition, CheckSettings, ProbedKind } from '../../src/domain/service.ts';
import { openProbe, type Trial } from '../probe/try-probe.ts';
import { listenRaw, until } from '../support/loopback.ts';
import { sealed } from './sealed.ts';

/** Each kind: its settings, the name of its protocol, and the beginning of an answer that announces more than it may. */
const KINDS: readonly (readonly [ProbedKind, CheckSettings, string, Uint8Array])[] = [
  ['smtp', {}, 'SMTP', Buffer.from(`220-${'x'.repeat(3_000)}`)],
  ['ssh', {}, 'SSH', Buffer.from('SSH-2.0-x\r\n\xff\xff\xff\xff', 'latin1')],
  ['postgres', {}, 'PostgreSQL', Buffer.from('R\x7f\xff\xff\xff', 'latin1')],
  ['mysql', {}, 'MySQL', Buffer.from('\xff\xff\xff\0\x0a', 'latin1')],
  ['redis', {}, 'Redis', Buffer.from(`-ERR ${'x'.repeat(3_000)}`)],
  ['mqtt', {}, 'MQTT', Buffer.from('\x20\xff\xff\xff\xff', 'latin1')],
  ['mongodb', {}, 'MongoDB', Buffer.from('\xff\xff\xff\x7f\x01\0\0\0\x01\0\0\0\xdd\x07\0\0', 'latin1')],
];

const failure = (kind: string, detail: string | RegExp) => ({ class: kind, detail });

/** Sends a piece every few milliseconds until the other side closes the connection. */
function drip(socket: Socket, piece: Uint8Array, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs);
  socket.on('close', () => clearInterval(timer));
}

type Row = readonly [
  string,
  (socket: Socket, long: Uint8Array) => void,
  (protocol: string) => object,
  Trial?,
];

const NO_ANSWER = { answered: false, failure: failure('timeout', 'no answer within 300 ms') };
const LATE = { timeoutMs: 300 };

const SERVERS: readonly Row[] = [
  ['silence', (socket) => void socket.resume(), () => NO_ANSWER, LATE],
  [
    'another protocol',
    (socket) => void socket.write('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n'),
    (protocol) => ({
      answered: true,
      failure: failure(
        'protocol',
        new RegExp(`^the answer is not ${protocol} \\(it begins with "HTTP/1.1 400`),
      ),
    }),
  ],
  [
    'noise',
    (socket) => void socket.write(Buffer.alloc(5_000, 0xfe)),
    () => ({ failure: { class: /^(?:protocol|content)$/ } }),
  ],
  [
    'noise without end',
    (socket) => drip(socket, Buffer.alloc(60_000, 0xff), 1),
    () => ({ failure: { class: /^(?:protocol|content)$/ } }),
  ],
  [
    'a length that is too large',
    (socket, long) => void socket.write(long),
    () => ({ failure: { class: 'protocol' } }),
  ],
  [
    'one byte at a time',
    (socket) => drip(socket, Buffer.from('\0'), 20),
    () => ({ answered: true, failure: { class: /^(?:protocol|timeout)$/ } }),
    LATE,
  ],
  [
    'an end',
    (socket) => void socket.end(),
    () => ({
      answered: false,
      failure: failure('unreachable', 'the connection was closed without an answer'),
    }),
  ],
  [
    'a reset',
    (socket) => void setTimeout(() => socket.resetAndDestroy(), 20),
    () => ({ answered: false, failure: { class: 'unreachable' } }),
  ],
  [
    'an end after a byte',
    (socket) => void socket.end('\0'),
    () => ({ answered: true, failure: failure('protocol', /conversation|is not/) }),
  ],
];

for (const [kind, settings, protocol, long] of KINDS)
  t.test(`a check of the kind ${kind} is not held up`, { jobs: 4 }, async (t) => {
    for (const [name, serve, expected, trial] of SERVERS)
      t.test(name, { buffered: true }, async (t) => {
        const probe = openProbe(t);
        const { port, open, close } = await listenRaw((socket) => serve(socket.resume(), long));
        t.teardown(close);
        const check: Partial<CheckDefinition> = { kind, settings: { port, ...settings } };
        t.match(await probe(null, { check, ...trial }), { via: kind, suspect: null, ...expected(protocol) });
        await until(() => open() === 0);
      });
  });

t.test('it shows no credentials that a server sends back', async (t) => {
  const secrets = { username: 'ada', password: 'ada-zw\u00f6lf' };
  const unknown = (said: string) =>
    `-ERR unknown command 'AUTH', with args beginning with: 'ada' '${said.slice(0, 8)}' \r\n`;
  const rows = [
    ['mqtt', (sent: Buffer) => sent, /^the answer is not MQTT/],
    ['postgres', (sent: Buffer) => sent, /^the answer is not PostgreSQL/],
    ['redis', (sent: Buffer) => sent, /^the answer is not Redis/],
    ['redis', () => unknown(secrets.password), /: ERR unknown command 'AUTH'$/],
    ['redis', () => `-ERR not ${secrets.password}\r\n`, /: ERR not \u2026$/],
  ] as const;
  for (const [kind, answer, expected] of rows) {
    const { port, close } = await listenRaw(
      (socket) => void socket.on('data', (sent) => socket.write(answer(sent))),
    );
    t.teardown(close);
    const { probe, check } = sealed(t, kind, { port }, `${kind}+plain:${port}`);
    const { failure } = await probe(null, check(secrets));
    t.match(failure, { detail: expected }, kind);
    t.notMatch(JSON.stringify(failure), /ada|zw|lf/, kind);
  }
});
