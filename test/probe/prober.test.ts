import type { Socket } from 'node:net';
import t from 'tap';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { createProber } from '../../src/probe/prober.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { listenRaw, until } from '../support/loopback.ts';
import { LOOPBACK_SETTINGS, openProbe } from './try-probe.ts';

const never = (socket: Socket) => void socket.resume();

t.test(
  'it rejects with the reason of an abort, at once and in flight, and leaves nothing open',
  async (t) => {
    const probe = openProbe(t);
    const { port, open, close } = await listenRaw(never);
    t.teardown(close);
    const url = `http://127.0.0.1:${port}/`;
    const stop = new AbortController();
    const { signal } = stop;
    const pending = [
      probe(url, { signal }),
      probe(url, { signal }),
      probe(`https://127.0.0.1:${port}/`, { signal }),
    ];
    const outcomes = Promise.allSettled(pending);
    await until(() => open() === 3);
    const reason = new Error('stopping');
    stop.abort(reason);
    t.same(await outcomes, new Array(3).fill({ status: 'rejected', reason }));
    await t.rejects(probe(url, { signal }), { message: 'stopping' });
    await until(() => open() === 0);
  },
);

t.test('it uses a slot for one attempt at a time', async (t) => {
  const probe = openProbe(t);
  const { port, close } = await listenRaw((socket) => {
    socket.once('data', () => setTimeout(() => socket.end('HTTP/1.1 200 OK\r\n\r\n'), 50));
  });
  t.teardown(close);
  const url = `http://127.0.0.1:${port}/`;
  const first = probe(url, { slot: 0 });
  await t.rejects(probe(url, { slot: 0 }), { message: 'slot 0 is taken or does not exist' });
  await t.rejects(probe(url, { slot: 4 }), { message: 'slot 4 is taken or does not exist' });
  t.match(await first, { statusCode: 200 });
  t.match(await probe(url, { slot: 0 }), { statusCode: 200 });
});

t.test(
  'it has one deadline for everything: redirects, a refused HEAD, a missing health endpoint',
  async (t) => {
    const probe = openProbe(t);
    const { port, open, close } = await listenRaw((socket) => {
      socket.once('data', (request: Buffer) => {
        const [, path = ''] = request.toString().split(' ');
        const n = Number(path.slice(1));
        const answer = path.startsWith('/api')
          ? 'HTTP/1.1 404 Not Found\r\n\r\n'
          : `HTTP/1.1 302 Found\r\nlocation: /${n + 1}\r\n\r\n`;
        setTimeout(() => socket.end(answer), 150);
      });
    });
    t.teardown(close);
    const url = `http://127.0.0.1:${port}/`;
    for (const check of [
      {},
      { method: 'GET' as const },
      { kind: 'health' as const, url: `${url}api/health` },
    ]) {
      const startedAt = performance.now();
      t.match(await probe(url, { timeoutMs: 400, check }), {
        statusCode: 0,
        responseTimeMs: null,
        // On a busy machine the time may end while a redirect connects.
        failure: { class: 'timeout', detail: /^no (?:answer|connection) within 400 ms$/ },
      });
      t.ok(performance.now() - startedAt >= 390);
    }
    await until(() => open() === 0);
  },
);

t.test('it takes its times from the clock it is given', async (t) => {
  const clock = createFakeClock(Date.UTC(2026, 10, 20));
  const prober = createProber(LOOPBACK_SETTINGS, clock);
  t.teardown(() => prober.close());
  let asked: Socket | undefined;
  const { port, close } = await listenRaw((socket) => {
    socket.once('data', () => {
      asked = socket;
    });
  });
  t.teardown(close);
  const target = {
    serviceId: 7,
    revision: 1,
    domain: '127.0.0.1',
    origin: 'catalogue' as const,
    check: { ...DEFAULT_CHECK, method: 'GET' as const, url: `http://127.0.0.1:${port}/` },
    memory: NO_MEMORY,
    ...{ accountId: null, lastCheckedAt: null },
  };
  const options = { timeoutMs: 10_000, number: 0, slot: 0, signal: new AbortController().signal };
  const answered = prober.runAttempt(target, options);
  await until(() => asked !== undefined);
  await clock.advance(3000);
  asked?.end('HTTP/1.1 429 Too Many Requests\r\nretry-after: Fri, 20 Nov 2026 00:01:03 GMT\r\n\r\n');
  t.match(await answered, {
    startedAt: Date.UTC(2026, 10, 20),
    responseTimeMs: 3000,
    retryAfterMs: 60_000,
  });
  asked = undefined;
  const late = prober.runAttempt(target, options);
  await until(() => asked !== undefined);
  await clock.advance(9999);
  await clock.advance(1);
  t.match(await late, { failure: { class: 'timeout' }, suspect: null });
});

t.test('it distrusts an attempt that failed by the fault of this machine', async (t) => {
  // The system itself refuses to connect to the broadcast address; nothing is sent.
  const probe = openProbe(t, { allowPrivate: ['255.255.255.255/32'] });
  t.match(await probe('http://255.255.255.255/'), {
    statusCode: 0,
    failure: { class: 'unreachable', phase: 'connect' },
    suspect: 'own_fault',
  });
  const deaf = openProbe(t, { nameservers: ['127.0.0.1:1'], hostsFile: '/nowhere' });
  t.match(await deaf('http://a.example/', { timeoutMs: 2000 }), {
    statusCode: 0,
    failure: { phase: 'dns' },
    suspect: 'own_fault',
  });
});

t.test('it refuses settings that it cannot read', async (t) => {
  t.throws(() => createProber({ ...LOOPBACK_SETTINGS, allowPrivate: ['everything'] }));
  t.throws(() => createProber({ ...LOOPBACK_SETTINGS, nameservers: ['nobody'] }));
});

t.test('its settings can be sent to a thread', async (t) => {
  t.same(structuredClone(LOOPBACK_SETTINGS), LOOPBACK_SETTINGS);
});
