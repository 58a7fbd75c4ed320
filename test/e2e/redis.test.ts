/** The whole program with `storage.redis.url`: what stands in Redis, and what people see while it is away. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { systemClock } from '../../src/clock.ts';
import { requireRedisAddress } from '../../src/domain/store-address.ts';
import { silentLog } from '../../src/log.ts';
import { RedisStatusReader } from '../../src/store/status/redis-status-reader.ts';
import { install } from '../support/program.ts';
import { NEEDS_REDIS, startRedis, until } from '../support/redis-server.ts';

interface Ready {
  readonly status: string;
  readonly degraded: readonly string[];
}

t.test(
  'it keeps statuses, limits and transitions in Redis, and needs it for none of them',
  NEEDS_REDIS,
  async (t) => {
    const redis = await startRedis(t);
    const password = 'hunter2';
    await redis.client.config('SET', 'requirepass', password);
    const url = `redis://:${password}@127.0.0.1:${redis.port}`;
    let code = 200;
    const site = createServer((_request, response) => response.writeHead(code).end());
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const check = { url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` };
    const installation = await install([{ slug: 'shop', check }], {
      storage: { redis: { url } },
      limits: { anonymousPerMinute: 500 },
    });
    t.teardown(() => {
      site.close();
      installation.remove();
    });
    const program = await installation.start();
    t.teardown(() => program.killHard());
    const address = requireRedisAddress(url);
    const reader = new RedisStatusReader({ address, clock: systemClock, log: silentLog });
    t.teardown(() => reader.close());

    const isStatus = (status: string) =>
      program.until('/api/v1/status/shop', (body: Ready) => body.status === status);
    const isDegraded = (...parts: string[]) =>
      program.until('/readyz', (body: Ready) => JSON.stringify(body.degraded) === JSON.stringify(parts));
    const positions = async () => {
      const entries = await redis.client.xrange('upbeat:{events}:transitions', '-', '+');
      return entries.map(([id]) => id);
    };

    await isStatus('up');
    await isDegraded();
    await until(() => reader.get(1)?.status === 'up', 'another process sees the status');
    // Statuses, events and the monitor's words go there each by itself.
    await until(async () => (await positions()).length === 1, 'the first transition is there');
    await until(async () => (await redis.client.exists('upbeat:{monitor}:words')) === 1, 'so are its words');
    t.same(
      (await redis.client.keys('upbeat:*')).map((key) => key.replace(/address:.*/, 'address:…')).sort(),
      [
        'upbeat:limit-probe',
        'upbeat:limit:api:address:…',
        'upbeat:{events}:transitions',
        'upbeat:{monitor}:words',
        'upbeat:{nodes}:installation',
        'upbeat:{status}:changes',
        'upbeat:{status}:meta',
        'upbeat:{status}:records',
      ],
    );
    const stranger = await install([], { storage: { redis: { url } } });
    t.teardown(() => stranger.remove());
    const refused = await stranger.run('start');
    t.equal(refused.status, 1, 'another installation does not start under the same prefix');
    t.match(
      refused.stdout,
      new RegExp(
        `Another installation, process \\d+ on \\S+, uses the prefix upbeat in Redis at [^"]*127.0.0.1:${redis.port}[^"]*\\. Add \\?prefix= with a name of its own`,
      ),
    );
    t.notMatch(refused.stdout, password);
    code = 503;
    await isStatus('down');
    await until(() => reader.get(1)?.status === 'down');
    await until(async () => (await positions()).length === 2);

    redis.signal('SIGSTOP');
    await isDegraded('redis');
    t.equal((await program.get('/readyz')).status, 200);
    code = 200;
    await isStatus('up');
    code = 503;
    await isStatus('down');
    const startedMs = performance.now();
    const answer = await program.get('/api/v1/status/shop');
    t.ok(performance.now() - startedMs < 10_000, 'no request waits for it');
    t.same([answer.status, answer.headers.get('x-ratelimit-limit')], [200, '500']);
    t.match((await program.get('/metrics')).body?.toString(), /^upbeat_redis_connected 0$/m);

    redis.signal('SIGCONT');
    await isDegraded();
    await until(async () => (await positions()).length === 4, 'the transitions are there');
    t.same(await positions(), ['1-0', '2-0', '3-0', '4-0']);
    await until(() => reader.get(1)?.seq === 4);
    // The program's own connection may return a moment after the reader's.
    const isConnected = /^upbeat_redis_connected 1$/m;
    await until(async () => isConnected.test(String((await program.get('/metrics')).body)));
    t.match(
      (await installation.runHere('doctor', '--json')).stdout,
      /Redis 7[.\d]* at 127\.0\.0\.1:\d+ answers in/,
    );

    await redis.stop();
    await isDegraded('redis');
    t.equal(await program.stop(), 0, 'it stops without Redis');
    t.notMatch(program.output(), password);
    t.notMatch(program.output(), /no effect|is not used by this version/);
  },
);
