/** The memory of the limits: bounded, and right under every order of requests. */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/clock.ts';
import { readRedisAddress, requireRedisAddress } from '../../src/domain/store-address.ts';
import { createRateLimiter, createSharedRateLimiter, LimitMemory } from '../../src/http/rate-limits.ts';
import { silentLog } from '../../src/log.ts';
import { openRedisLimitServer } from '../../src/store/status/redis-parts.ts';
import { NOW, service, startApi } from '../site/site-world.ts';
import { CERTIFICATE_FOLDER, TEST_CA_FILE } from '../support/certificates.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { freePort } from '../support/free-port.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { NEEDS_REDIS, startRedis, startRedisCluster, until } from '../support/redis-server.ts';

t.test('it remembers a bounded number of addresses, and forgets the oldest first', async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock, 1_000);
  const api = createRateLimiter('api', 5, memory);
  const pictures = createRateLimiter('pictures', 5, memory);
  for (let index = 0; index < 1_500; index++) {
    await api.charge(`10.0.${index >> 8}.${index & 255}`);
    await pictures.charge(`10.1.${index >> 8}.${index & 255}`);
    if (index === 0) t.equal(memory.size, 2);
  }
  t.equal(memory.size, 1_000);
  t.equal(api.peek('10.0.0.0').remaining, 5, 'forgotten');
  t.equal(api.peek('10.0.5.219').remaining, 4, 'remembered');
});

t.test('it forgets windows that have ended', async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock);
  const limiter = createRateLimiter('api', 5, memory);
  for (let index = 0; index < 500; index++) await limiter.charge(`client ${index}`);
  await clock.advance(60_000);
  await limiter.charge('another');
  t.equal(memory.size, 1);
});

t.test("it ends a window by its own clock, whatever the library's clock says", async (t) => {
  const clock = createFakeClock();
  const memory = new LimitMemory(clock);
  const limiter = createRateLimiter('api', 5, memory);
  // As the library writes it, with an end that lies behind the library's own clock.
  memory.set('api:a', { id: 'a', reset: 1, remaining: 5, total: 5 });
  t.strictSame((await limiter.charge('a')).remaining, 3, 'the window goes on');
  await clock.advance(59_999);
  t.equal((await limiter.charge('a')).remaining, 2);
  await clock.advance(1);
  t.equal((await limiter.charge('a')).remaining, 4, 'a new window');
});

t.test('it keeps at most 100,000 addresses', async (t) => {
  const memory = new LimitMemory(createFakeClock());
  const limiter = createRateLimiter('api', 5, memory);
  for (let index = 0; index <= 100_000; index++) void limiter.charge(`client ${index}`);
  await limiter.charge('one more');
  t.equal(memory.size, 100_000);
});

t.test('it allows exactly the limit in each window, whatever comes when', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(fc.record({ client: fc.constantFrom('a', 'b'), waitMs: fc.nat(40_000), burst: fc.nat(6) }), {
        maxLength: 12,
      }),
      async (limit, steps) => {
        const clock = createFakeClock();
        const limiter = createRateLimiter('api', limit, new LimitMemory(clock));
        const model = new Map<string, { endsAt: number; used: number }>();
        for (const { client, waitMs, burst } of steps) {
          await clock.advance(waitMs);
          const answers = await Promise.all(Array.from({ length: burst }, () => limiter.charge(client)));
          for (const { allowed, remaining } of answers) {
            const known = model.get(client);
            const window =
              known === undefined || known.endsAt <= clock.monotonic()
                ? { endsAt: clock.monotonic() + 60_000, used: 0 }
                : known;
            window.used++;
            model.set(client, window);
            if (allowed !== window.used <= limit) return false;
            if (remaining !== Math.max(0, limit - window.used)) return false;
          }
        }
        return true;
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

/** An answer that comes late on a busy machine is counted here all the same; `{}`: with the limit of the product. */
const PATIENT = { timeoutMs: 30_000 };

async function openServer(t: Test, url: string, patience: { readonly timeoutMs?: number } = PATIENT) {
  const address = requireRedisAddress(url);
  const server = openRedisLimitServer({ address, clock: systemClock, log: silentLog, ...patience });
  t.teardown(() => server.close());
  await until(() => server.ready, 'the limits are connected');
  return server;
}

async function startProcess(t: Test, url: string, env: NodeJS.ProcessEnv = {}): Promise<number> {
  const child = fork(join(import.meta.dirname, 'limited-server.ts'), [url], {
    env: { ...process.env, ...env },
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.disconnect();
    await ended;
  });
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  if (typeof message?.port !== 'number') throw new Error(`the server ended: ${message}`);
  return message.port;
}

function makeLimiter(max: number, server: Awaited<ReturnType<typeof openServer>>) {
  const clock = createFakeClock(NOW);
  const local = createRateLimiter('api', max, new LimitMemory(clock));
  return createSharedRateLimiter('api', max, { server, local, clock });
}

t.test('it is exact over two processes under 200 requests at once', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  const url = `redis://127.0.0.1:${redis.port}`;
  const ports = await Promise.all([startProcess(t, url), startProcess(t, url)]);
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, index) => {
      const response = await fetch(`http://127.0.0.1:${ports[index % 2]}/api/v1/status/shop`, {
        headers: { 'x-forwarded-for': '203.0.113.7' },
      });
      await response.arrayBuffer();
      return { status: response.status, remaining: Number(response.headers.get('x-ratelimit-remaining')) };
    }),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 60);
  t.equal(answers.filter(({ status }) => status === 429).length, 140);
  const told = answers.filter(({ status }) => status === 200).map(({ remaining }) => remaining);
  t.same(
    told.sort((a, b) => b - a),
    Array.from({ length: 60 }, (_, index) => 59 - index),
    'each request is told its own figure',
  );
});

t.test(
  'it counts in windows, tells their end, and keeps the limit with which one began',
  NEEDS_REDIS,
  async (t) => {
    const redis = await startRedis(t);
    const server = await openServer(t, `redis://127.0.0.1:${redis.port}?prefix=up`);
    const limiter = makeLimiter(2, server);
    const end = Math.ceil((NOW + 60_000) / 1_000);
    const full = { allowed: true, limit: 2, remaining: 2, resetAtSeconds: end, retryAfterSeconds: 60 };
    t.strictSame(await limiter.peek('a'), full, 'a look opens no window');
    t.strictSame(await limiter.peek('a'), full);
    t.match(await limiter.charge('a'), { ...full, remaining: 1 });
    limiter.setMax(5);
    t.match(await limiter.charge('a'), { allowed: true, limit: 2, remaining: 0 });
    t.match(await limiter.charge('a'), { allowed: false, limit: 2, remaining: 0 });
    t.match(await limiter.peek('a'), { allowed: false, limit: 2, remaining: 0 });
    t.match(await limiter.charge('b'), { allowed: true, limit: 5, remaining: 4 });
    t.same((await redis.client.keys('*')).sort(), ['up:limit-probe', 'up:limit:api:a', 'up:limit:api:b']);
    t.ok((await redis.client.pttl('up:limit:api:a')) > 50_000);
    // In the first half of a second, where rounding down or to the nearest would tell less than what is left.
    await redis.client.pexpire('up:limit:api:a', 50_400);
    t.match(await limiter.peek('a'), { retryAfterSeconds: 51, resetAtSeconds: NOW / 1_000 + 51 });
    t.match(await limiter.charge('a'), { allowed: false, retryAfterSeconds: 51 });
    await redis.client.pexpire('up:limit:api:a', 1);
    await until(async () => (await redis.client.exists('up:limit:api:a')) === 0);
    t.match(await limiter.charge('a'), { allowed: true, limit: 5, remaining: 4 }, 'a new window');
  },
);

t.test('it counts on a cluster, whose nodes share the clients', NEEDS_REDIS, async (t) => {
  const { nodes, url } = await startRedisCluster(t);
  const limiter = makeLimiter(3, await openServer(t, url));
  const clients = Array.from({ length: 40 }, (_, index) => `10.0.0.${index}`);
  const answers = await Promise.all(
    [0, 1, 2, 3].map(() => Promise.all(clients.map((client) => limiter.charge(client)))),
  );
  t.same(
    answers.map((round) => round.filter(({ allowed }) => allowed).length),
    [40, 40, 40, 0],
  );
  const sizes = await Promise.all(nodes.map(({ client }) => client.dbsize()));
  t.ok(
    sizes.every((size) => size > 0),
    String(sizes),
  );
});

t.test('it counts for itself while Redis is away, and answers every request soon', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  const server = await openServer(t, `redis://127.0.0.1:${redis.port}`, {});
  let asked = 0;
  const world = await startApi({
    services: [service(1, 'shop')],
    anonymousPerMinute: 5,
    limitServer: {
      get ready() {
        return server.ready;
      },
      evaluate: (...call) => {
        asked++;
        return server.evaluate(...call);
      },
    },
  });
  t.teardown(() => world.close());
  const ask = async (client: string) => {
    const startedMs = performance.now();
    const { status, headers } = await world.get('/api/v1/status/shop', { 'x-forwarded-for': client });
    return { status, left: headers.get('x-ratelimit-remaining'), ms: performance.now() - startedMs };
  };
  const askAll = async (client: string) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(client)));
    return { good: answers.filter(({ status }) => status === 200).length, answers };
  };
  for (const [index, [how, leave, back]] of (
    [
      ['stopped', () => redis.stop(), () => redis.start()],
      ['paused', async () => redis.signal('SIGSTOP'), async () => redis.signal('SIGCONT')],
    ] as const
  ).entries()) {
    const network = `198.51.${index}`;
    await leave();
    const { good, answers } = await askAll(`${network}.1`);
    t.equal(good, 5, `${how}: the limit holds in the process`);
    t.ok(answers.every(({ status }) => status === 200 || status === 429));
    // 200 ms, and what a busy machine adds.
    t.ok(
      Math.min(...answers.map(({ ms }) => ms)) < 2_000,
      `${how}: ${answers.map(({ ms }) => Math.round(ms))}`,
    );
    t.equal(server.ready, false);
    const before = asked;
    t.equal((await ask(`${network}.2`)).status, 200);
    t.equal(asked, before, `${how}: no request waits for it again`);
    await back();
    // Another response may be late on a busy machine; then the process counts for itself a moment longer.
    await until(async () => {
      await ask(`${network}.3`);
      return (await redis.client.keys('*')).some((key) => key.endsWith(`${network}.3`));
    }, `${how}: counted in Redis again`);
  }
});

t.test('it reports what is left on a picture that costs nothing', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  const server = await openServer(t, `redis://127.0.0.1:${redis.port}`);
  const world = await startApi({
    services: [service(1, 'shop')],
    anonymousPerMinute: 5,
    limitServer: server,
  });
  t.teardown(() => world.close());
  const first = await world.get('/api/badge/shop-example');
  const again = await world.get('/api/badge/shop-example', {
    'if-none-match': first.headers.get('etag') ?? '',
  });
  t.same([first.status, again.status], [200, 304]);
  t.same(
    [first, again].map(({ headers }) => headers.get('x-ratelimit-remaining')),
    ['4', '4'],
  );
});

t.test('it speaks TLS, with servers whose authority is trusted', NEEDS_REDIS, async (t) => {
  const port = await freePort();
  const file = (name: string) => join(CERTIFICATE_FOLDER, name);
  await startRedis(t, [
    ...['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', TEST_CA_FILE],
    ...['--tls-cert-file', file('localhost.pem'), '--tls-key-file', file('localhost-key.pem')],
  ]);
  const url = `rediss://127.0.0.1:${port}`;
  const address = requireRedisAddress(url);
  const distrusting = openRedisLimitServer({ address, clock: systemClock, log: silentLog });
  t.teardown(() => distrusting.close());
  await until(() => /certificate/.test(distrusting.state().problem ?? ''), 'the certificate is refused');
  t.equal(distrusting.ready, false);
  // It says its port only when it counts in Redis.
  t.ok((await startProcess(t, url, { NODE_EXTRA_CA_CERTS: TEST_CA_FILE })) > 0);
});

t.test('it is not used where it forbids scripts or writes', NEEDS_REDIS, async (t) => {
  const redis = await startRedis(t);
  await redis.client.call('ACL', 'SETUSER', 'poor', 'on', '>hunter2', '~*', '+@all', '-@scripting');
  const [address, full] = ['poor:hunter2@', ''].map((who) =>
    readRedisAddress(`redis://${who}127.0.0.1:${redis.port}`),
  );
  if (address == null || full == null) throw new Error('no address');
  const poor = openRedisLimitServer({ address, clock: systemClock, log: silentLog });
  t.teardown(() => poor.close());
  await until(() => /NOPERM/.test(poor.state().problem ?? ''));
  await redis.client.config('SET', 'maxmemory', '1');
  const choked = openRedisLimitServer({ address: full, clock: systemClock, log: silentLog });
  t.teardown(() => choked.close());
  await until(() => /OOM/.test(choked.state().problem ?? ''));
  t.same([poor.ready, choked.ready], [false, false]);
  await redis.client.config('SET', 'maxmemory', '0');
  await until(() => choked.ready, 'it is of use again');
});
