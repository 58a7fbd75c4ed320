/** The age of a copy that cannot hear of changes. */
import t from 'tap';
import { check, current, NOW, service, startApi } from './site-world.ts';

const STATUSES = [
  '/api/v1/status/shop',
  '/api/v1/services',
  '/api/badge/shop-example',
  '/api/chart/shop-example.png',
];

t.test('it reports the age of the last copy, on what stands on it', async (t) => {
  let age = 900;
  const world = await startApi({ services: [service(1, 'shop')], ageMs: () => age });
  t.teardown(() => world.close());
  await world.status.put([current(1, check(NOW))]);
  const ages = async (paths: readonly string[], headers: Record<string, string> = {}) =>
    await Promise.all(paths.map(async (path) => (await world.get(path, headers)).headers.get('age')));
  t.same(await ages(STATUSES), [null, null, null, null], 'while changes are heard');
  age = 61_999;
  t.same(await ages(STATUSES), ['61', '61', '61', '61']);
  t.same(await ages(['/api/v1/incidents', '/healthz', '/api/v1/openapi.json']), [null, null, null]);
  const { headers } = await world.get(STATUSES[0] ?? '');
  const again = await world.get(STATUSES[0] ?? '', { 'if-none-match': headers.get('etag') ?? '' });
  t.same([again.status, again.headers.get('age')], [304, '61']);
});

t.test('it reports no age of statuses that are its own', async (t) => {
  const world = await startApi({ services: [service(1, 'shop')] });
  t.teardown(() => world.close());
  for (const path of STATUSES) t.equal((await world.get(path)).headers.get('age'), null);
});
