import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { type Destination, readDestination } from '../../src/outbound/address-guard.ts';
import { type Deadline, startDeadline } from '../../src/outbound/deadline.ts';
import { type Connection, type ExchangeOrder, exchange } from '../../src/outbound/exchange.ts';
import { Inlet } from '../../src/outbound/inlet.ts';
import { listenRaw, until } from '../support/loopback.ts';

const order = (more: Partial<ExchangeOrder> = {}): ExchangeOrder => ({
  destination: readDestination('http://127.0.0.1/') as Destination,
  method: 'GET',
  headers: [],
  body: null,
  wantsBody: () => true,
  maxBodyBytes: 1000,
  ...more,
});

async function start(t: Test, handle: (socket: Socket) => void) {
  const server = await listenRaw(handle);
  const deadline = startDeadline(systemClock, 20_000);
  t.teardown(async () => {
    deadline.close();
    await server.close();
  });
  const connect = async () => {
    const inlet = new Inlet();
    const socket = createConnection({ host: '127.0.0.1', port: server.port, onread: inlet.onread });
    socket.on('error', () => {});
    await once(socket, 'connect');
    return { socket, inlet };
  };
  const say = (connection: Connection, spoken: ExchangeOrder, until: Deadline = deadline) =>
    exchange(systemClock, connection, spoken, until);
  return { server, say, connect };
}

const answering = (text: string) => (socket: Socket) => void socket.once('data', () => socket.end(text));

t.test('it says a request over the connection it is given, with a body where there is one', async (t) => {
  const heard: string[] = [];
  const { say, connect } = await start(t, (socket) => {
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk.toString());
      if (heard.join('').endsWith('{"a":1}')) socket.end('HTTP/1.1 201 Created\r\nX-Id: 7\r\n\r\ndone');
    });
  });
  const post = order({ method: 'POST', headers: ['content-type', 'application/json'], body: '{"a":1}' });
  t.match(await say(await connect(), post), {
    statusCode: 201,
    headers: { 'x-id': '7' },
    body: Buffer.from('done'),
    overlong: false,
    fault: null,
  });
  t.match(heard.join(''), /^POST \/ HTTP\/1\.1\r\nhost: 127\.0\.0\.1\r\nconnection: close\r\n/);
});

t.test('it takes an answer that came before the question, as browsers do', async (t) => {
  let more = () => true;
  const { say, connect, server } = await start(t, (socket) => {
    socket.resume();
    socket.write('HTTP/1.1 200 OK\r\ncontent-');
    more = () => socket.write('length: 2\r\n\r\nhi');
  });
  const connection = await connect();
  const { socket } = connection;
  await until(() => socket.bytesRead === 25);
  more();
  await until(() => socket.bytesRead === 40);
  t.match(await say(connection, order()), { statusCode: 200, body: Buffer.from('hi'), fault: null });
  t.equal(server.accepted(), 1);
  t.ok(socket.destroyed);
});

t.test('it keeps apart what several connections receive in turn', async (t) => {
  const sockets: Socket[] = [];
  const { say, connect } = await start(t, (socket) => void socket.once('data', () => sockets.push(socket)));
  const LETTERS = ['a', 'b', 'c'];
  const said = [];
  for (const letter of LETTERS) {
    said.push(say(await connect(), order({ method: 'POST', body: letter })));
    await until(() => sockets.length === said.length);
  }
  const send = async (textOf: (letter: string) => string) => {
    for (const [index, socket] of sockets.entries()) {
      const letter = LETTERS[index] ?? '';
      await new Promise((done) => socket.write(textOf(letter), done));
    }
  };
  await send(() => 'HTTP/1.1 200 OK\r\nx-');
  await send((letter) => `letter: ${letter}\r\ncontent-length: 10\r\n\r\n${letter}`);
  for (let n = 0; n < 3; n++) await send((letter) => letter.repeat(3));
  for (const [index, result] of (await Promise.all(said)).entries()) {
    const letter = LETTERS[index] ?? '';
    t.match(result, { headers: { 'x-letter': letter }, body: Buffer.from(letter.repeat(10)), fault: null });
  }
});

t.test('it reports a connection that was lost before the question', async (t) => {
  const { say, connect } = await start(t, answering('HTTP/1.1 200 OK\r\n\r\n'));
  const closed = await connect();
  closed.socket.destroy();
  await once(closed.socket, 'close');
  t.match(await say(closed, order()), {
    statusCode: 0,
    fault: { failure: { class: 'unreachable', phase: 'first_byte' } },
  });
  const broken = await connect();
  broken.socket.destroy(Object.assign(new Error('reset'), { code: 'ECONNRESET' }));
  t.match(await say(broken, order()), {
    fault: { failure: { cause: { code: 'reset_before_response' } } },
  });
  t.match(await say(await connect(), order()), { statusCode: 200, fault: null });
});

t.test('it keeps no more of a body than it may', async (t) => {
  const { say, connect, server } = await start(t, (socket) => {
    socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n\r\n${'x'.repeat(50_000)}`));
  });
  const result = await say(await connect(), order());
  t.match(result, { statusCode: 200, overlong: true, fault: null });
  t.equal(result.body?.length, 1000);
  await until(() => server.open() === 0);
});

t.test('it ends at once where the deadline is over already', async (t) => {
  const { say, connect, server } = await start(t, () => {});
  const deadline = startDeadline(systemClock, 20_000);
  deadline.abort();
  t.match(await say(await connect(), order(), deadline), {
    fault: { failure: { class: 'timeout' } },
  });
  await until(() => server.open() === 0);
});

t.test('it rejects what is no request', async (t) => {
  const { say, connect } = await start(t, () => {});
  const injected = order({ headers: ['x-a', 'b\r\nx-injected: c'] });
  await t.rejects(say(await connect(), injected), { code: 'ERR_INVALID_CHAR' });
});

t.test('it notes what a late event loop may have cost until the headers came', async (t) => {
  const { say, connect } = await start(t, answering('HTTP/1.1 200 OK\r\n\r\n'));
  const deadline = startDeadline(systemClock, 20_000, () => 1_000_000);
  t.teardown(() => deadline.close());
  const connection = await connect();
  const before = systemClock.monotonic();
  await say(connection, order(), deadline);
  const lostMs = deadline.lostMs;
  t.ok(lostMs > 0 && lostMs <= systemClock.monotonic() - deadline.startedAt, `${lostMs} ms`);
  t.ok(lostMs >= before - deadline.startedAt);
});
