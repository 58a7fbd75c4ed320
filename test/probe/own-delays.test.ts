import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { listenRaw } from '../support/loopback.ts';
import { openProbe } from './try-probe.ts';

/** Cells that the server and the test share. */
const RECEIVED = 0;
const MAY_ANSWER = 1;
const ANSWERED = 2;

/** Answers when it may. In a thread of its own, so that it answers while the thread of the test is busy. */
const SERVER = `
  const { parentPort, workerData: cells } = require('node:worker_threads');
  const waiting = [];
  setInterval(() => {
    if (Atomics.load(cells, ${MAY_ANSWER}) === 0) return;
    for (const socket of waiting.splice(0)) {
      socket.end('HTTP/1.1 204 No Content\\r\\n\\r\\n');
      Atomics.add(cells, ${ANSWERED}, 1);
    }
    Atomics.notify(cells, ${ANSWERED});
  }, 1);
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      waiting.push(socket);
      Atomics.add(cells, ${RECEIVED}, 1);
    });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

async function startServer(t: Test) {
  const cells = new Int32Array(new SharedArrayBuffer(12));
  Atomics.store(cells, MAY_ANSWER, 1);
  const worker = new Worker(SERVER, { eval: true, workerData: cells });
  t.teardown(() => worker.terminate());
  const [port] = await once(worker, 'message');
  return { url: `http://127.0.0.1:${port}/`, cells };
}

/** Holds the thread. */
function work(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

const WORK_MS = 400;

t.test('the latency has nothing of what is done before the connection begins', async (t) => {
  const { url } = await startServer(t);
  const probe = openProbe(t);
  await probe(url);
  const attempt = probe(url);
  // As when a host starts many checks in one turn: Node.js connects when all of this has returned.
  work(WORK_MS);
  const { statusCode, timing } = await attempt;
  t.equal(statusCode, 204);
  t.ok(timing.totalMs !== null && timing.totalMs < WORK_MS / 2, `${timing.totalMs} ms`);
  t.ok(timing.connectMs !== null && timing.connectMs < WORK_MS / 2, `connected in ${timing.connectMs} ms`);
});

t.test('nor of the work that follows a response which arrived together with it', async (t) => {
  const { url, cells } = await startServer(t);
  const probe = openProbe(t);
  await probe(url);
  Atomics.store(cells, MAY_ANSWER, 0);
  const totals: (number | null)[] = [];
  const attempts = [1, 2, 3].map(async () => {
    const { timing } = await probe(url);
    totals.push(timing.totalMs);
    work(WORK_MS);
  });
  while (Atomics.load(cells, RECEIVED) < 4) await new Promise((resolve) => setImmediate(resolve));
  Atomics.store(cells, MAY_ANSWER, 1);
  // All answers are there before this thread reads the first of them.
  for (let count = 1; count < 4; count = Atomics.load(cells, ANSWERED))
    Atomics.wait(cells, ANSWERED, count, 100);
  await Promise.all(attempts);
  t.equal(totals.length, 3);
  for (const ms of totals) t.ok(ms !== null && ms < WORK_MS / 2, `${ms} ms`);
});

t.test('it has both hops of a redirect', async (t) => {
  const WAIT_MS = 150;
  const { port, close } = await listenRaw((socket) => {
    socket.once('data', (request: Buffer) => {
      const isFirst = request.toString().split(' ')[1] === '/';
      const answer = isFirst
        ? 'HTTP/1.1 302 Found\r\nlocation: /next\r\n\r\n'
        : 'HTTP/1.1 204 No Content\r\n\r\n';
      setTimeout(() => socket.end(answer), WAIT_MS);
    });
  });
  t.teardown(close);
  const { statusCode, timing } = await openProbe(t)(`http://127.0.0.1:${port}/`);
  t.equal(statusCode, 204);
  t.ok(timing.totalMs !== null && timing.totalMs > 2 * WAIT_MS - 10, `${timing.totalMs} ms`);
});
