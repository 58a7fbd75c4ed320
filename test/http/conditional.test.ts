/** Validators, and clients that have the content already (contract 7). */
import t from 'tap';
import { check, current, NOW, service, startApi } from '../site/site-world.ts';

const SERVICES = [service(1, 'shop')];

const READING = [
  '/api/v1/status/shop',
  '/api/v1/services',
  '/api/v1/incidents',
  '/api/v1/incidents/shop',
  '/api/v1/services/shop/history?to=2026-11-20',
  '/api/v1/openapi.json',
  '/api/badge/shop-example',
];

t.test('it answers 304 to a client that has the content, by every form of If-None-Match', async (t) => {
  const world = await startApi({ services: SERVICES });
  t.teardown(world.close);
  for (const path of READING) {
    const answer = await world.get(path);
    const etag = answer.headers.get('etag') ?? '';
    t.match(etag, /^"[\w-]{20,}"$/, `${path} has a strong validator`);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"a,b" , W/${etag},"c"`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await world.get(path, { 'if-none-match': known }, method);
        t.strictSame(
          [
            unchanged.status,
            unchanged.text,
            unchanged.headers.get('etag'),
            unchanged.headers.get('content-type'),
          ],
          [304, '', etag, null],
          `${method} ${path} ${known}`,
        );
        t.equal(unchanged.headers.get('access-control-allow-origin'), '*');
      }
    }
    for (const other of ['"other"', etag.slice(1, -1), `${etag.slice(0, -1)}x"`, '', 'W/']) {
      t.equal((await world.get(path, { 'if-none-match': other })).status, 200, `${path} ${other}`);
    }
    t.equal((await world.get(path)).headers.get('etag'), etag, 'the same content has the same validator');
  }
  const before = (await world.get('/api/v1/status/shop')).headers.get('etag') ?? '';
  await world.status.put([current(1, check(NOW))]);
  t.equal((await world.get('/api/v1/status/shop', { 'if-none-match': before })).status, 200);
});
