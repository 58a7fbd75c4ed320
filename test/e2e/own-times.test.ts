/** Services with times and regions of their own, in a running program whose requests are counted at the target. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { at } from '../support/json.ts';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';

/** Time before the response to paths with `slow`, milliseconds. */
const RESPONSE_MS = 400;

t.setTimeout(120_000);

t.test('it checks each service by its own times, from its own regions', async (t) => {
  /** Arrivals by path, monotonic milliseconds. */
  const arrivals = new Map<string, number[]>();
  const target = await listenOn(
    createServer((request, response) => {
      const path = request.url ?? '';
      arrivals.set(path, [...(arrivals.get(path) ?? []), performance.now()]);
      if (path.includes('hang')) return;
      setTimeout(() => response.end(), path.includes('slow') ? RESPONSE_MS : 0);
    }),
  );
  t.teardown(target.close);
  const addressOf = (path: string) => `http://127.0.0.1:${target.port}/${path}`;
  const countOf = (path: string) => arrivals.get(`/${path}`)?.length ?? 0;
  const untilCount = async (path: string, count: number) => {
    while (countOf(path) < count) await wait(20);
  };
  const entry = (slug: string, own: object) => ({
    slug,
    check: { url: addressOf(slug), method: 'GET', ...own },
  });
  const installation = await install(
    [
      entry('second', { interval: '1s' }),
      entry('three', { interval: '3s' }),
      entry('slow-usual', {}),
      entry('slow-own', { slowOver: '100ms', timeout: '5s' }),
      entry('hang', { timeout: '300ms', slowOver: '100ms', confirmAfter: [] }),
      entry('elsewhere', { interval: '1s', regions: ['mars'] }),
    ],
    { checks: { interval: '1h', firstSpread: '500ms', ports: [target.port], ownersMayProbePrivate: true } },
  );
  t.teardown(() => installation.remove());
  const file = join(installation.folder, 'owned.yaml');
  writeFileSync(
    file,
    `services: [{ domain: shop.example.com, url: "${addressOf('shop')}", method: GET, interval: 24h }]`,
  );
  t.match(await installation.runHere('services', 'import', file, '--account', 'ops'), { status: 0 });
  const program = await installation.start();
  t.teardown(() => program.killHard());
  const statusOf = (slug: string, status: string) =>
    program.until<{ readonly status: string }>(`/api/v1/status/${slug}`, (shown) => shown.status === status);

  await untilCount('second', 1);
  const [firstMs = 0] = arrivals.get('/second') ?? [];
  await Promise.all([statusOf('slow-usual', 'up'), statusOf('slow-own', 'slow'), statusOf('hang', 'down')]);
  const { body } = await program.get('/api/v1/status/hang');
  t.match(at(body, 'latest_check', 'failure'), { class: 'timeout' });
  t.equal(countOf('hang'), 1, 'without a re-check');

  await untilCount('shop', 1);
  t.match(await installation.runHere('services', 'set', 'shop-example-com', '--interval', '1s'), {
    status: 0,
  });
  await untilCount('shop', 3);
  t.match(await installation.runHere('services', 'set', 'shop-example-com', '--interval', '500ms'), {
    status: 1,
    stderr: /interval must be at least 1s/,
  });
  await installation.runHere('services', 'set', 'shop-example-com', '--interval', 'default');

  await untilCount('three', 2);
  const passedS = (performance.now() - firstMs) / 1_000;
  t.ok(countOf('second') <= passedS + 2, `${countOf('second')} checks a second in ${passedS} s`);
  t.ok(countOf('three') <= passedS / 3 + 2, `${countOf('three')} every three seconds`);
  t.equal(countOf('slow-usual'), 1, 'the others by checks.interval');
  t.equal(countOf('elsewhere'), 0);
  const page = await (await fetch(`${program.siteUrl}/status/elsewhere`)).text();
  t.match(page, 'Not checked from mars: no node in that region makes checks.');
  const before = countOf('shop');
  await untilCount('second', countOf('second') + 2);
  t.ok(countOf('shop') <= before + 1, 'the setting counts again at once');
});
