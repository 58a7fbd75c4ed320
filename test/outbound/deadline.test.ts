import { once } from 'node:events';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { MAX_RETURNED_MS } from '../../src/domain/result.ts';
import { createLoopDelay } from '../../src/engine/host/loop-delay.ts';
import { createAddressGuard, type Destination, readDestination } from '../../src/outbound/address-guard.ts';
import { createTrustStore, newPhaseTimings } from '../../src/outbound/connection.ts';
import { startDeadline } from '../../src/outbound/deadline.ts';
import { dial } from '../../src/outbound/dial.ts';
import { createResolver } from '../../src/outbound/resolver.ts';
import { makeCertificate } from '../support/certificates.ts';
import { createFakeClock } from '../support/fake-clock.ts';

/** Notes when the deadline is over. */
function watch(clock: ReturnType<typeof createFakeClock>, deadline: ReturnType<typeof startDeadline>) {
  const startedAt = clock.monotonic();
  const ended: number[] = [];
  const interrupt = () => ended.push(clock.monotonic() - startedAt);
  deadline.interrupt = interrupt;
  return ended;
}

t.test('it gives back what late turns took before a step of the work, up to a bound', async (t) => {
  for (const [name, steps, endsAfterMs, lostMs] of [
    ['nothing was late', [[500, 0]], 1_000, 0],
    ['one late turn', [[500, 350]], 1_350, 350],
    [
      'each of several',
      [
        [400, 350],
        [600, 100],
      ],
      1_450,
      450,
    ],
    ['no more than has passed since the start', [[20, 350]], 1_020, 20],
    [
      'no more than has passed since the step before',
      [
        [500, 350],
        [510, 350],
      ],
      1_360,
      360,
    ],
    ['a long sleep', [[900, 60_000]], 1_900, 900],
  ] as const) {
    const clock = createFakeClock();
    let lateMs = 0;
    const deadline = startDeadline(clock, 1_000, () => lateMs);
    const ended = watch(clock, deadline);
    for (const [at, late] of steps) {
      await clock.advance(at - clock.monotonic());
      lateMs = late;
      deadline.step();
    }
    await clock.advance(20_000);
    t.same(ended, [endsAfterMs], name);
    t.equal(deadline.lostMs, lostMs, name);
    t.equal(deadline.over, 'timeout');
  }
  const clock = createFakeClock();
  const deadline = startDeadline(clock, 10_000, () => 9_000);
  const ended = watch(clock, deadline);
  await clock.advance(9_500);
  deadline.step();
  await clock.advance(20_000);
  t.same(ended, [10_000 + MAX_RETURNED_MS]);
  t.equal(deadline.lostMs, 9_000);
});

t.test(
  'it extends by every delay of a handshake, and by the time between an input and the next request',
  async (t) => {
    const clock = createFakeClock();
    let delayMs = 5_000;
    const deadline = startDeadline(
      clock,
      1_000,
      () => 0,
      () => delayMs,
    );
    const ended = watch(clock, deadline);
    await clock.advance(100);
    delayMs += 60;
    deadline.step(true);
    await clock.advance(200);
    // Two delays between the messages of the handshake; the loop is in time again when the last message arrives.
    delayMs += 150;
    await clock.advance(100);
    deadline.step();
    t.equal(deadline.lostMs, 150);
    delayMs += 1_000;
    await clock.advance(10);
    deadline.sent();
    t.equal(deadline.lostMs, 150, 'processing of 10 ms is no delay');
    await clock.advance(100);
    deadline.step();
    await clock.advance(350);
    deadline.sent();
    t.equal(deadline.lostMs, 500);
    await clock.advance(300);
    deadline.step(true);
    delayMs += 70;
    await clock.advance(20_000);
    t.same(ended, [1_570], 'delays of a handshake in progress extend the deadline');
    t.equal(deadline.lostMs, 500, 'but are not known to have cost anything');
  },
);

t.test('it ends once, and not after it was closed', async (t) => {
  const clock = createFakeClock();
  const [closed, aborted] = [startDeadline(clock, 1_000), startDeadline(clock, 1_000)];
  const ended = [watch(clock, closed), watch(clock, aborted)];
  await clock.advance(500);
  closed.close();
  aborted.abort();
  await clock.advance(5_000);
  t.same(ended, [[], [500]]);
  t.same([closed.over, aborted.over], [null, 'aborted']);
});

/** A server in a thread of its own that answers as soon as it is told, and tells when its answer is on its way. */
const SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    parentPort.once('message', () => socket.end('in time', () => {
      Atomics.store(workerData, 0, 1);
      Atomics.notify(workerData, 0);
    }));
    parentPort.postMessage('accepted');
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** A server in a thread of its own that begins a TLS 1.2 handshake as soon as the client has stopped. */
const HANDSHAKE_SERVER = `
  const { parentPort, workerData } = require('node:worker_threads');
  const { state, pair } = workerData;
  const net = require('node:net');
  const tls = require('node:tls').createServer({ ...pair, maxVersion: 'TLSv1.2' }, (socket) => socket.on('error', () => {}));
  tls.on('tlsClientError', () => {});
  tls.listen(0, '127.0.0.1', () => {
    const server = net.createServer((client) => {
      const inner = net.connect(tls.address().port, '127.0.0.1');
      for (const socket of [client, inner]) socket.on('error', () => {});
      client.once('data', (hello) => {
        Atomics.store(state, 0, 1);
        Atomics.wait(state, 1, 0);
        inner.write(hello);
        client.pipe(inner).pipe(client);
      });
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
  });
`;

t.test(
  'it gives a handshake the time back for which the event loop stood still between its messages',
  async (t) => {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const worker = new Worker(HANDSHAKE_SERVER, {
      eval: true,
      workerData: { state, pair: makeCertificate({ names: ['127.0.0.1'] }) },
    });
    t.teardown(() => worker.terminate());
    const [port] = await once(worker, 'message');
    const { monotonic } = systemClock;
    const delay = createLoopDelay(10, monotonic());
    const timers = [setInterval(() => delay.note(monotonic()), 10)];
    t.teardown(() => timers.forEach(clearInterval));
    const deadline = startDeadline(
      systemClock,
      1_500,
      () => delay.present(monotonic()),
      () => delay.total(monotonic()),
    );
    timers.push(
      setInterval(() => {
        if (Atomics.load(state, 0) === 0 || Atomics.load(state, 1) === 1) return;
        Atomics.store(state, 1, 1);
        Atomics.notify(state, 1);
        // Past the deadline; the first messages of the server arrive meanwhile, and the client's next ones are missing.
        while (monotonic() < deadline.startedAt + 1_600) Atomics.wait(state, 0, 1, 100);
      }, 1),
    );
    const resolver = createResolver({ nameservers: [], hostsFile: '/nowhere' });
    t.teardown(() => resolver.close());
    const order = {
      destination: readDestination(`https://127.0.0.1:${port}/`) as Destination,
      guard: createAddressGuard({ allowPrivate: ['127.0.0.0/8'], ports: [] }),
      trust: createTrustStore().unverified(),
      fresh: false,
    };
    const dialled = await dial({ clock: systemClock, resolver }, order, deadline, newPhaseTimings());
    t.equal(dialled.fault, null);
    t.equal(Atomics.load(state, 1), 1, 'the event loop stood still');
    if (dialled.fault === null) dialled.socket.destroy();
    deadline.close();
  },
);

t.test('it lets an answer be read that came in time while the event loop stood still', async (t) => {
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(SERVER, { eval: true, workerData: answered });
  t.teardown(() => worker.terminate());
  const [port] = await once(worker, 'message');
  const socket = connect(port, '127.0.0.1');
  await Promise.all([once(socket, 'connect'), once(worker, 'message')]);
  const events: string[] = [];
  socket.once('data', (data) => events.push(String(data)));
  const deadline = startDeadline(systemClock, 50);
  const over = new Promise<void>((resolve) => {
    const interrupt = () => {
      events.push('over');
      resolve();
    };
    deadline.interrupt = interrupt;
  });
  worker.postMessage('answer');
  // Our event loop stands still until the answer has come, and past the time-out.
  Atomics.wait(answered, 0, 0);
  while (performance.now() < deadline.startedAt + 60) Atomics.wait(answered, 0, 1, 10);
  await over;
  t.same(events, ['in time', 'over']);
  deadline.close();
  socket.destroy();
});

t.test('it gives back what passed before the operation began, which no response has lost', async (t) => {
  for (const [waitMs, endsAfterMs] of [
    [300, 1_300],
    // Processing, not a delay.
    [10, 1_000],
  ] as const) {
    const clock = createFakeClock();
    const deadline = startDeadline(clock, 1_000, () => 5_000);
    const ended = watch(clock, deadline);
    await clock.advance(waitMs);
    deadline.begun();
    await clock.advance(0);
    deadline.step();
    t.equal(deadline.lostMs, 0, `after ${waitMs} ms`);
    await clock.advance(20_000);
    t.same(ended, [endsAfterMs]);
  }
});
