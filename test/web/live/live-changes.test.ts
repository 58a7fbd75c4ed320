/** What changed when, and how the monitor itself is. */
import t from 'tap';
import type { Service } from '../../../src/domain/service.ts';
import type { StatusHead } from '../../../src/domain/status/current.ts';
import { silentLog } from '../../../src/log.ts';
import { createMemoryStatusStore } from '../../../src/store/status/memory-status-store.ts';
import { createLiveChanges } from '../../../src/web/live/live-changes.ts';
import { check, current, NOW, service } from '../../site/site-world.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const INTERVAL_MS = 300_000;

function world(services: readonly Service[] = [service(1, 'a'), service(2, 'b')]) {
  const clock = createFakeClock(NOW);
  const status = createMemoryStatusStore({ log: silentLog });
  const make = () =>
    createLiveChanges({
      directory: { all: () => services, byId: (id) => services.find((one) => one.id === id) ?? null },
      status,
      intervalMs: INTERVAL_MS,
      listenedAt: clock.now,
      clock,
    });
  return { clock, status, make };
}

t.test('it reports which services changed since a position, and which were only checked', async (t) => {
  const { status, make } = world();
  await status.put([current(1, check(NOW)), current(2, check(NOW))]);
  const changes = make();
  const before = changes.read(changes.position());
  t.equal(before, 0);
  await status.put([current(1, check(NOW + 1))]);
  const between = changes.read(changes.position());
  t.same(
    [changes.changedSince(0), changes.checkedAt(1), changes.checkedAt(2)],
    [[], 1, 0],
    'a check is no change',
  );
  await status.put([current(2, check(NOW + 2, { status: 'down' }), { seq: 2 })]);
  t.same([changes.changedSince(0), changes.changedSince(between ?? -1)], [[2], [2]]);
  t.same(changes.changedSince(changes.read(changes.position()) ?? -1), []);
  changes.close();
});

t.test('it does not take the positions of another start for its own', async (t) => {
  const { make } = world();
  const [one, other] = [make(), make()];
  t.equal(one.read(other.position()), null);
  for (const position of [
    '',
    '-',
    'x',
    one.position().replace(/\d+$/, '-1'),
    one.position().replace(/\d+$/, 'x'),
  ])
    t.equal(one.read(position), null, position);
  t.equal(one.read(one.position().replace(/\d+$/, '99')), 0, 'nor one that it has not reached');
  one.close();
  other.close();
});

t.test('it tells its watchers every record, until they leave', async (t) => {
  const { status, make } = world();
  const changes = make();
  const heard: [number, boolean][] = [];
  const stop = changes.watch((head: StatusHead, changed) => heard.push([head.serviceId, changed]));
  await status.put([current(1, check(NOW))]);
  await status.put([current(1, check(NOW + 1))]);
  stop();
  await status.put([current(1, check(NOW + 2))]);
  t.same(heard, [
    [1, true],
    [1, false],
  ]);
  changes.close();
  await status.put([current(1, check(NOW + 3))]);
  t.equal(changes.checkedAt(1), 3, 'and follows no more once it is closed');
});

t.test('it counts checks a second over the last minute, and what is late', async (t) => {
  const services = [
    service(1, 'a'),
    service(2, 'b', { paused: true }),
    service(3, 'c', { verified: false }),
    service(4, 'd'),
  ];
  const { clock, status, make } = world(services);
  await status.put([1, 2, 3].map((id) => current(id, check(NOW - 3 * INTERVAL_MS))));
  const changes = make();
  t.same(changes.monitor(), { checksPerSecond: 0, newestCheckAt: null, late: 1 });
  for (let second = 1; second <= 90; second++) {
    await clock.advance(1_000);
    await status.put([1, 4].map((id) => current(id, check(clock.now()))));
  }
  t.same(changes.monitor(), { checksPerSecond: 2, newestCheckAt: clock.now(), late: 0 });
  await clock.advance(30_000);
  t.equal(changes.monitor().checksPerSecond, 1);
  await clock.advance(600_000);
  t.same(changes.monitor(), { checksPerSecond: 0, newestCheckAt: NOW + 90_000, late: 2 });
  changes.close();
});

t.test('among very many services it counts those that are late once a second', async (t) => {
  const services = Array.from({ length: 10_001 }, (_, index) => service(index + 1, `s${index + 1}`));
  const { clock, status, make } = world(services);
  const changes = make();
  t.equal(changes.monitor().late, 0);
  await status.put([current(1, check(NOW - 3 * INTERVAL_MS))]);
  t.equal(changes.monitor().late, 0);
  await clock.advance(1_000);
  t.equal(changes.monitor().late, 1);
  changes.close();
});

t.test('it counts no copy that is filled from elsewhere', async (t) => {
  const { status, make } = world();
  const changes = make();
  await status.put([current(1, check(NOW - 61_000))]);
  t.same(changes.monitor().checksPerSecond, 0);
  changes.close();
});
