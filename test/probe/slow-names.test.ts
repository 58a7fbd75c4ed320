/** Name servers that are slow: an attempt waits for them, and says how long it took. */
import t from 'tap';
import { listenRaw } from '../support/loopback.ts';
import { type NameResult, startNameServer } from '../support/name-server.ts';
import { openProbe } from './try-probe.ts';

const LOOPBACK: NameResult = { addresses: ['127.0.0.1'], ttl: 0 };
const TIMEOUT_MS = 10_000;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// They mostly wait.
t.jobs = 6;

for (const delayMs of [1000, 1500, 2000, 2500, 4000]) {
  t.test(`it takes an answer after ${delayMs} ms, and no other time`, { buffered: true }, async (t) => {
    let slow = false;
    let asked = 0;
    let quickestMs = Number.POSITIVE_INFINITY;
    const names = await startNameServer(async ({ type }) => {
      if (!slow || type !== 'A') return LOOPBACK;
      // Only the first query is answered: a resolver that drops it in favour of a later one never gets an answer.
      if (asked++ > 0) return 'silence';
      const startedAt = performance.now();
      await wait(delayMs);
      quickestMs = performance.now() - startedAt;
      return LOOPBACK;
    });
    const server = await listenRaw((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    });
    t.teardown(() => Promise.all([names.close(), server.close()]));
    const probe = openProbe(t, { nameservers: [names.address], hostsFile: '/nowhere' });
    // The server has been quick so far.
    for (const name of ['a', 'b', 'c']) {
      t.match(await probe(`http://${name}.example:${server.port}/`), { statusCode: 204, failure: null });
    }
    slow = true;
    const startedAt = performance.now();
    const attempt = await probe(`http://slow.example:${server.port}/`, { timeoutMs: TIMEOUT_MS });
    const tookMs = performance.now() - startedAt;
    t.match(attempt, { statusCode: 204, failure: null, suspect: null });
    const { dnsMs, totalMs } = attempt.timing;
    t.ok(dnsMs !== null && totalMs !== null && dnsMs <= totalMs);
    // Timers of Node.js may fire a millisecond early.
    t.ok((dnsMs ?? 0) >= quickestMs - 2 && (totalMs ?? 0) <= tookMs, `${dnsMs} of ${totalMs} ms`);
  });
}

t.test('it fails for a time-out where the answer comes after it', { buffered: true }, async (t) => {
  const names = await startNameServer(async ({ type }) => {
    if (type === 'other') return { code: 0 };
    await wait(900);
    return LOOPBACK;
  });
  t.teardown(names.close);
  const probe = openProbe(t, { nameservers: [names.address], hostsFile: '/nowhere' });
  t.match(await probe('http://late.example/', { timeoutMs: 300 }), {
    statusCode: 0,
    responseTimeMs: null,
    failure: { class: 'timeout', phase: 'dns', detail: 'the name was not resolved within 300 ms' },
  });
});
