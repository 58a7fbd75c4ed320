/** Who asks, as limits count them (decisions, Keys and limits). */

import { connect, type Socket } from 'node:net';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import {
  connectionLimitOf,
  createClientCounts,
  createClientReader,
  createPeerReader,
  limitConnections,
} from '../../src/http/client-address.ts';
import { createHttpServer, listen } from '../../src/http/server.ts';
import { type Log, silentLog } from '../../src/log.ts';
import { until } from '../support/loopback.ts';

t.test(
  'it believes X-Forwarded-For from trusted proxies only, and takes the right-most address that is none',
  (t) => {
    const table: readonly [string[], string | undefined, string | undefined, string][] = [
      [[], '203.0.113.1', undefined, '203.0.113.1'],
      [[], '203.0.113.1', '198.51.100.9', '203.0.113.1'],
      [[], '::ffff:203.0.113.1', '198.51.100.9', '203.0.113.1'],
      [['10.0.0.1'], '10.0.0.2', '198.51.100.9', '10.0.0.2'],
      [['10.0.0.1'], '10.0.0.1', undefined, '10.0.0.1'],
      [['10.0.0.1'], '10.0.0.1', '', '10.0.0.1'],
      [['10.0.0.1'], '10.0.0.1', '198.51.100.9', '198.51.100.9'],
      [['10.0.0.1'], '::ffff:10.0.0.1', '198.51.100.9', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 198.51.100.9, 10.9.9.9', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '10.1.1.1, 10.2.2.2', '10.1.1.1'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, garbage, 10.2.2.2', '10.2.2.2'],
      [['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, unknown', '10.0.0.1'],
      [['10.0.0.0/8'], '10.0.0.1', '198.51.100.9:4711', '198.51.100.9'],
      [['10.0.0.0/8'], '10.0.0.1', '[2001:db8::7]:443', '2001:db8:0:0::/64'],
      [['2001:db8:9::/48'], '2001:db8:9::1', '2001:db8:1:2:3::4', '2001:db8:1:2::/64'],
      [[], '2001:db8:1:2:ffff:ffff:ffff:ffff', undefined, '2001:db8:1:2::/64'],
      [[], 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
      [[], undefined, '198.51.100.9', 'unknown'],
    ];
    for (const [trusted, remote, forwarded, client] of table) {
      t.equal(createClientReader(trusted)(remote, forwarded), client, `${trusted} ${remote} ${forwarded}`);
    }
    t.end();
  },
);

t.test('a connection is that of its address, or of nobody where a trusted proxy opened it', async (t) => {
  const table: readonly [string[], string | undefined, string | null][] = [
    [[], '203.0.113.1', '203.0.113.1'],
    [[], '::ffff:203.0.113.1', '203.0.113.1'],
    [[], '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    [[], undefined, 'unknown'],
    [['10.0.0.0/8'], '10.0.0.1', null],
    [['10.0.0.0/8'], '::ffff:10.0.0.1', null],
    [['10.0.0.0/8'], '11.0.0.1', '11.0.0.1'],
    [['2001:db8:9::1'], '2001:db8:9::1', null],
    [['2001:db8:9::1'], '2001:db8:9::2', '2001:db8:9:0::/64'],
  ];
  for (const [trusted, address, client] of table)
    t.equal(createPeerReader(trusted)(address), client, `${trusted} ${address}`);
});

t.test('it ignores the addresses before the first untrusted hop', (t) => {
  const read = createClientReader(['10.0.0.0/8', 'fd00::/8']);
  fc.assert(
    fc.property(fc.string(), fc.ipV4(), (forged, real) => {
      fc.pre(!real.startsWith('10.'));
      return read('10.0.0.1', `${forged}, ${real}, 10.3.3.3`) === real;
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => typeof read('10.0.0.1', text) === 'string'));
  t.end();
});

t.test('it refuses a block that it cannot read', (t) => {
  t.throws(() => createClientReader(['10.0.0.0/33']));
  t.throws(() => createClientReader(['proxy.example']));
  t.end();
});

t.test('it counts what each client holds', async (t) => {
  const counts = createClientCounts();
  counts.add('a');
  counts.add('a');
  counts.add('b');
  t.same([counts.of('a'), counts.of('b'), counts.of('c')], [2, 1, 0]);
  counts.remove('a');
  counts.remove('b');
  t.same([counts.of('a'), counts.of('b')], [1, 0]);
});

t.test('clients may take three quarters of the open files', async (t) => {
  const limits = (files: string) => `Limit                     Soft Limit           Hard Limit           Units
Max processes             95870                95870                processes
Max open files            ${files}                 524288               files
Max locked memory         8388608              8388608              bytes
`;
  t.equal(connectionLimitOf(limits('1024')), 768);
  t.equal(connectionLimitOf(limits('unlimited')), Number.POSITIVE_INFINITY);
  t.equal(connectionLimitOf(''), Number.POSITIVE_INFINITY);
});

/** A server on all of loopback whose clients may hold `maxConnections`, and what it tells. */
async function startLimited(t: Test, maxConnections: number, trustedProxies: readonly string[] = []) {
  const told: unknown[] = [];
  const refused: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void told.push({ ...fields, message }),
  };
  const server = createHttpServer((_request, response) => response.end('here'));
  let closed = 0;
  server.on('connection', (socket: Socket) => socket.once('close', () => closed++));
  limitConnections(server, {
    maxConnections,
    trustedProxies,
    onRefused: (reason) => void refused.push(reason),
    log,
  });
  const port = await listen(server, '127.0.0.1', 0);
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    server,
    told,
    refused,
    /** Number of accepted connections that have ended. */
    closed: () => closed,
    /** Connects from an address of loopback and sends a request; what came of it. */
    async ask(localAddress: string) {
      const socket = connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket);
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      const answer = await new Promise<string>((resolve) => {
        socket.once('data', (head) => resolve(head.toString().split('\r\n')[0] ?? ''));
        socket.once('close', () => resolve('closed'));
      });
      return { answer, socket };
    },
  };
}

const OK = 'HTTP/1.1 200 OK';

t.test('a client gets a quarter of the connections, and others get theirs', async (t) => {
  const { ask, told, refused, closed } = await startLimited(t, 8);
  const first = await ask('127.0.0.1');
  const answers = [first.answer];
  for (const address of ['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.0.0.2', '127.0.0.2', '127.0.0.2'])
    answers.push((await ask(address)).answer);
  t.strictSame(answers, [OK, OK, 'closed', 'closed', OK, OK, 'closed']);
  t.strictSame(refused, ['client', 'client', 'client']);
  const message = 'a client has its share of connections';
  t.strictSame(told, [{ client: '127.0.0.1', open: 2, message }], 'the log tells of it once');
  first.socket.destroy();
  await until(() => closed() === 1);
  t.equal((await ask('127.0.0.1')).answer, OK, 'a connection that ends makes room');
});

t.test('connections of a trusted proxy are those of many clients', async (t) => {
  const { ask, refused } = await startLimited(t, 8, ['127.0.0.1']);
  const answers: string[] = [];
  for (const address of [...Array(6).fill('127.0.0.1'), '127.0.0.2', '127.0.0.2', '127.0.0.3'])
    answers.push((await ask(address)).answer);
  t.strictSame(answers, [...Array(8).fill(OK), 'closed'], 'as many as there are in all');
  t.strictSame(refused, ['full']);
});

t.test('without a limit of open files there is none for a client', async (t) => {
  const { ask } = await startLimited(t, Number.POSITIVE_INFINITY);
  for (let n = 0; n < 10; n++) t.equal((await ask('127.0.0.1')).answer, OK);
});

t.test('what the system refuses is logged once, and ends nothing', async (t) => {
  const { ask, server, told, refused } = await startLimited(t, 8);
  const error = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
  for (let times = 0; times < 3; times++) t.equal(server.emit('error', error), true, 'it has a listener');
  t.strictSame(told, [{ error, message: 'a connection could not be accepted' }]);
  t.strictSame(refused, ['system', 'system', 'system']);
  t.equal((await ask('127.0.0.1')).answer, OK);
});
