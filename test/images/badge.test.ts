/** `GET /api/badge/:slug` (contract 4.6; decisions, Badge). */
import t from 'tap';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';

const INTERVAL_MS = 300_000;
const CACHED = 'public, s-maxage=300, stale-while-revalidate=60';

t.test('it sends the picture of the service with the headers of the contract', async (t) => {
  const world = await startApi({
    services: [service(1, 'github', { name: 'GitHub', domain: 'github.com' })],
  });
  t.teardown(world.close);
  await world.status.put([current(1, check(NOW))]);
  const light = { name: 'GitHub', fallback: 'github.com', status: 'up', theme: 'light', ageText: null };
  const table: readonly [string, object][] = [
    ['/api/badge/github-com', light],
    ['/api/badge/github-com.png', light],
    ['/api/badge/GitHub-Com.PNG?theme=light', light],
    ['/api/badge/github', light],
    ['/api/badge/github-com?theme=dark', { ...light, theme: 'dark' }],
    ['/api/badge/github-com.png?theme=dark&x=1', { ...light, theme: 'dark' }],
  ];
  for (const [path, text] of table) {
    const answer = await world.get(path);
    t.equal(answer.status, 200, path);
    t.equal(answer.text, `PNG ${JSON.stringify(text)}`, path);
    t.equal(answer.headers.get('content-type'), 'image/png');
    t.equal(answer.headers.get('cache-control'), CACHED);
    const head = await world.get(path, {}, 'HEAD');
    t.strictSame(
      [head.status, head.text, head.headers.get('content-length')],
      [200, '', String(answer.bytes.length)],
    );
    const known = await world.get(path, { 'if-none-match': answer.headers.get('etag') ?? '' });
    t.strictSame([known.status, known.text, known.headers.get('cache-control')], [304, '', CACHED]);
  }
  t.equal(world.asked.badges.length, 2, 'each picture is drawn once');
});

t.test('it answers JSON for a service that is not known, never a picture', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  for (const path of ['/api/badge/nobody', '/api/badge/shop.example', '/api/badge/.png']) {
    const answer = await world.get(path);
    t.match(answer, { status: 404, json: { code: 'service_not_found' } }, path);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    t.equal(answer.headers.get('cache-control'), 'no-store', 'and no cache keeps it');
  }
});

t.test('it shows unknown, and a stale status with its age', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const read = async () => JSON.parse((await world.get('/api/badge/shop-example')).text.slice(4));
  t.match(await read(), { status: 'unknown', ageText: null });
  await world.status.put([current(1, check(NOW, { status: 'down' }))]);
  await world.clock.advance(2 * INTERVAL_MS);
  t.match(await read(), { status: 'down', ageText: null });
  await world.clock.advance(120_000);
  t.match(await read(), { status: 'down', ageText: 'as of 12 min ago' });
  await world.clock.skip(3 * 3_600_000);
  t.match(await read(), { status: 'down', ageText: '3 h ago' });
  await world.clock.skip(2 * 86_400_000);
  t.match(await read(), { status: 'down', ageText: '2 d ago' });
});

t.test('it draws anew when name, status or age change, and the ETag follows', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(world.close);
  const etags = new Set<string | null>();
  const read = async () => etags.add((await world.get('/api/badge/shop-example')).headers.get('etag'));
  await read();
  await world.status.put([current(1, check(NOW))]);
  await read();
  await world.status.put([current(1, check(NOW + 1, { responseTimeMs: 5 }))]);
  await read();
  t.equal(etags.size, 2, 'a check that changes nothing on the picture changes no ETag');
  world.directory.apply({
    seq: 1,
    serviceId: 1,
    slug: 'shop',
    service: service(1, 'shop', { name: 'New', revision: 2 }),
  });
  await read();
  t.equal(etags.size, 3);
});
