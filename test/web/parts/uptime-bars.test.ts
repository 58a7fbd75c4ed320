/** Days of which all checks were left out because of something else. */
import t from 'tap';
import type { Bucket } from '../../../src/domain/sample.ts';
import { findUnreachedDays } from '../../../src/web/parts/uptime-bars.ts';
import { service } from '../../site/site-world.ts';

const day = (startAt: number, count: number, downCount = 0, suspectCount = 0) =>
  ({ startAt, count, downCount, suspectCount, slowCount: 0 }) as Bucket;

const SHOP = service(1, 'shop', { dependsOn: ['router', 'power'] });
const ROUTER = service(2, 'router');
const POWER = service(3, 'power');
const bySlug = (slug: string) => [SHOP, ROUTER, POWER].find((one) => one.slug === slug) ?? null;

t.test('each such day has the nearest service that was down, or null', async (t) => {
  const days = [day(1, 0, 0, 9), day(2, 9), day(3, 0, 0, 9), day(4, 0, 0, 9), day(5, 0)];
  const read: number[] = [];
  const found = await findUnreachedDays(SHOP, days, bySlug, async (id) => {
    read.push(id);
    return id === ROUTER.id ? [day(1, 9, 1), day(2, 9, 9)] : [day(1, 9, 1), day(3, 9, 1)];
  });
  t.same(
    [...found].map(([at, cause]) => [at, cause?.slug ?? null]),
    [
      [1, 'router'],
      [3, 'power'],
      [4, null],
    ],
  );
  t.same(read, [ROUTER.id, POWER.id]);
});

t.test('nothing is read without need, and what cannot be read is not known', async (t) => {
  const refuse = async () => t.fail('read') as never;
  t.equal((await findUnreachedDays(null, [day(1, 0, 0, 9)], bySlug, refuse)).size, 0);
  t.equal((await findUnreachedDays(ROUTER, [day(1, 0, 0, 9)], bySlug, refuse)).size, 0);
  t.equal((await findUnreachedDays(SHOP, [day(1, 9, 9)], bySlug, refuse)).size, 0);
  t.same([...(await findUnreachedDays(SHOP, [day(1, 0, 0, 9)], bySlug, async () => null))], [[1, null]]);
});
