/** The services of the shards that a node holds, as they are loaded, change and go. */
import t from 'tap';
import type { CheckTarget } from '../../src/domain/check-target.ts';
import { SHARDS } from '../../src/domain/node.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import { createLog } from '../../src/log.ts';
import { createShardServices } from '../../src/main/start-probing.ts';
import type { ServiceChange } from '../../src/store/ports/services.ts';
import { targetOf } from '../engine/attempt.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function createWorld() {
  const clock = createFakeClock();
  const loads: {
    readonly shards: readonly number[];
    readonly end: (targets: CheckTarget[] | Error) => void;
  }[] = [];
  /** Services that the fleet checks, by id, with their revision. */
  const checked = new Map<number, number>();
  const forgotten: number[] = [];
  const services = createShardServices({
    registry: double({
      loadTargets: (shards) =>
        new Promise((resolve, reject) => {
          loads.push({ shards, end: (end) => (end instanceof Error ? reject(end) : resolve(end)) });
        }),
    }),
    region: 'eu',
    fleet: {
      apply({ serviceId, target }) {
        if (target === null) checked.delete(serviceId);
        else checked.set(serviceId, Math.max(target.revision, checked.get(serviceId) ?? 0));
      },
      takeOver(targets) {
        for (const { serviceId, revision } of targets) checked.set(serviceId, revision);
      },
    },
    forget: (serviceId) => void forgotten.push(serviceId),
    clock,
    log: createLog({ level: 'silent', format: 'json' }),
  });
  const change = (id: number, revision: number, service: Partial<Service> | null = {}): ServiceChange => ({
    seq: 1,
    serviceId: id,
    slug: `s${id}`,
    service:
      service === null
        ? null
        : {
            ...{ id, slug: `s${id}`, name: 's', domain: 's.com', category: 'developer', origin: 'catalogue' },
            ...{
              accountId: null,
              verified: true,
              paused: false,
              check: DEFAULT_CHECK,
              statusPage: null,
              revision,
            },
            ...service,
          },
  });
  return { clock, loads, checked, forgotten, services, change };
}

t.test('it loads the services of gained shards once results under way are committed', async (t) => {
  const { clock, loads, checked, services, change } = createWorld();
  services.gain([1]);
  services.gain([2, 3]);
  services.applyChange(change(1, 9));
  await clock.advance(1_400);
  t.equal(loads.length, 0);
  await clock.advance(100);
  t.same(loads[0]?.shards, [1]);
  loads[0]?.end([targetOf(1)]);
  await clock.advance(0);
  t.same(loads[1]?.shards, [2]);
  loads[1]?.end([targetOf(SHARDS + 2)]);
  await clock.advance(0);
  loads[2]?.end([]);
  await clock.advance(0);
  t.same([...checked.keys()], [1, SHARDS + 2]);
  t.ok(services.has(1));
  t.notOk(services.has(3));
  services.applyChange(change(3, 2));
  services.applyChange(change(4, 2));
  services.applyChange(change(1, 2, { paused: true }));
  t.same([...checked.keys()], [SHARDS + 2, 3], 'changes of its shards alone');
});

t.test('a change during the load counts more than what was loaded', async (t) => {
  const { clock, loads, checked, services, change } = createWorld();
  services.gain([1]);
  await clock.advance(1_500);
  services.applyChange(change(1, 2, null));
  services.applyChange(change(SHARDS + 1, 5));
  loads[0]?.end([targetOf(1), targetOf(SHARDS + 1)]);
  await clock.advance(0);
  t.same([...checked], [[SHARDS + 1, 5]]);
});

t.test('it checks nothing of a shard that was lost, also during the load', async (t) => {
  const { clock, loads, checked, forgotten, services } = createWorld();
  services.gain([1, 2]);
  await clock.advance(1_500);
  services.lose([2]);
  services.gain([3]);
  loads[0]?.end([targetOf(1)]);
  await clock.advance(0);
  t.same(loads[1]?.shards, [2]);
  loads[1]?.end([targetOf(2)]);
  await clock.advance(1_500);
  t.same([...checked.keys()], [1]);
  t.same(loads[2]?.shards, [3]);
  services.lose([1, 3]);
  loads[2]?.end([targetOf(3)]);
  await clock.advance(0);
  t.same([...checked.keys()], []);
  t.same(forgotten, [1]);
});

t.test('it loads one shard at a time, and again those that the registry did not give', async (t) => {
  const { clock, loads, checked, services } = createWorld();
  services.gain([1, 8, 9]);
  await clock.advance(1_500);
  t.same(loads[0]?.shards, [1]);
  loads[0]?.end([targetOf(1)]);
  await clock.advance(0);
  t.same([...checked.keys()], [1], 'checked before the others are loaded');
  t.same(loads[1]?.shards, [8]);
  loads[1]?.end(new Error('away'));
  await clock.advance(1_000);
  t.same(loads[2]?.shards, [8]);
  loads[2]?.end([targetOf(8)]);
  await clock.advance(0);
  t.same(loads[3]?.shards, [9]);
  loads[3]?.end([targetOf(9)]);
  await clock.advance(0);
  t.same([...checked.keys()], [1, 8, 9]);
});

t.test('it loads again while the registry is away, until it stops', async (t) => {
  const { clock, loads, checked, services } = createWorld();
  services.gain([1]);
  await clock.advance(1_500);
  loads[0]?.end(new Error('away'));
  await clock.advance(1_000);
  t.same(loads[1]?.shards, [1]);
  loads[1]?.end([targetOf(1)]);
  await clock.advance(0);
  t.same([...checked.keys()], [1]);
  services.gain([2]);
  services.stop();
  await clock.advance(5_000);
  t.equal(loads.length, 2);
});

t.test(
  'what is known of a service is forgotten once it is not checked, and not with any change',
  async (t) => {
    const { clock, loads, forgotten, services, change } = createWorld();
    services.gain([1]);
    await clock.advance(1_500);
    loads[0]?.end([targetOf(1)]);
    await clock.advance(0);
    services.applyChange(change(1, 9));
    t.same(forgotten, []);
    services.applyChange(change(1, 10, null));
    t.same(forgotten, [1]);
  },
);
