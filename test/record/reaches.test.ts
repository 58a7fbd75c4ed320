/** What is down behind another service has no incident of its own, and what could not be reached does not count (ADR 34). */
import t from 'tap';
import type { CheckResult } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import { createWorld, good, makeService, START, unanswered, type World } from './record-world.ts';

const MINUTE = 60_000;
const router = makeService(1, { origin: 'owner', accountId: 7 });
const child = (id: number, changes: Partial<Service> = {}): Service =>
  makeService(id, { origin: 'owner', accountId: 7, dependsOn: ['service-1'], ...changes });

/** All are up at first. */
async function createHome(services: readonly Service[] = [router, child(2)], more = {}): Promise<World> {
  const world = await createWorld({ services, ...more });
  await take(world, ...services.map(({ id }) => good(id, START)));
  return world;
}

async function take(world: World, ...results: Parameters<World['record']['takeResults']>[0]): Promise<void> {
  world.record.takeResults(results);
  await settle(world);
}

async function settle({ record, clock }: World): Promise<void> {
  // What follows from a commit is committed by the next one.
  for (let round = 0; round < 4; round++) {
    await clock.advance(0);
    await record.idle();
  }
}

const now = (world: World) => world.clock.now();

/** So many minutes pass, in each of which these services are checked. */
async function pass(world: World, minutes: number, down: readonly number[], up: readonly number[] = []) {
  for (let minute = 0; minute < minutes; minute++) {
    await world.clock.advance(MINUTE);
    await take(
      world,
      ...down.map((id) => unanswered(id, now(world))),
      ...up.map((id) => good(id, now(world))),
    );
  }
}
const incidents = (world: World) =>
  [...world.registry.incidents.values()].map(({ serviceId, status, startedAt }) => ({
    serviceId,
    status,
    startedAt: (startedAt - START) / 1_000,
  }));

/** What counts of a service's failures, in seconds after the start: of two samples of one time, the last one does. */
function failures({ samples }: World, serviceId: number): Record<number, 'counts' | 'left out'> {
  const found = samples.filter((one) => one.serviceId === serviceId && one.status === 'down');
  return Object.fromEntries(
    found.map(({ at, suspect }) => [(at - START) / 1_000, suspect ? 'left out' : 'counts']),
  );
}

t.test(
  'it opens one incident for a router, and leaves out what could not be reached behind it',
  async (t) => {
    const world = await createHome();
    await world.clock.advance(MINUTE);
    await take(world, unanswered(2, now(world)));
    t.strictSame(world.asked, [1], 'what it depends on is checked at once');
    t.strictSame(failures(world, 2), { 60: 'counts' }, 'it is not known yet');
    await world.clock.advance(3_000);
    await take(world, unanswered(1, now(world)));
    await world.clock.advance(MINUTE);
    await take(world, unanswered(2, now(world)));
    t.strictSame(failures(world, 2), { 60: 'left out', 123: 'left out' });
    t.strictSame(failures(world, 1), { 63: 'counts' });
    await pass(world, 1, [2], [1]);
    await pass(world, 2, [], [1, 2]);
    t.strictSame(failures(world, 2), { 60: 'left out', 123: 'left out', 183: 'left out' });
    t.equal(world.published.get(2)?.status, 'up');
    await pass(world, 10, [], [1, 2]);
    t.match(incidents(world), [{ serviceId: 1, status: 'resolved' }]);
    t.equal(incidents(world).length, 1);
  },
);

t.test('it opens the incident of what fails by itself when what it depends on has answered', async (t) => {
  const world = await createHome();
  await world.clock.advance(MINUTE);
  await take(world, unanswered(2, now(world)));
  t.strictSame(incidents(world), []);
  await world.clock.advance(2_000);
  await take(world, good(1, now(world)));
  await world.clock.advance(1_000);
  await settle(world);
  t.strictSame(incidents(world), [{ serviceId: 2, status: 'investigating', startedAt: 54 }]);
  t.strictSame(failures(world, 2), { 60: 'counts' });
});

t.test('it opens it after 45 s without an answer', async (t) => {
  const world = await createHome();
  await world.clock.advance(MINUTE);
  await take(world, unanswered(2, now(world)));
  await world.clock.advance(44_000);
  await settle(world);
  t.strictSame(incidents(world), []);
  await world.clock.advance(2_000);
  await settle(world);
  t.match(incidents(world), [{ serviceId: 2, status: 'investigating', startedAt: 54 }]);
});

t.test('an outage that is over before that is known has an incident, too', async (t) => {
  const world = await createHome();
  await world.clock.advance(MINUTE);
  await take(world, unanswered(2, now(world)));
  await world.clock.advance(1_000);
  await take(world, good(2, now(world)));
  t.strictSame(incidents(world), [{ serviceId: 2, status: 'monitoring', startedAt: 54 }]);
});

t.test(
  'what still fails two minutes after the router has recovered is down by itself from then on',
  async (t) => {
    const world = await createHome();
    await world.clock.advance(MINUTE);
    await take(world, unanswered(1, now(world)), unanswered(2, now(world)));
    await pass(world, 2, [1, 2]);
    await pass(world, 2, [2], [1]);
    t.match(incidents(world), [{ serviceId: 1 }]);
    t.equal(incidents(world).length, 1);
    await world.clock.advance(MINUTE + 1_000);
    await take(world, unanswered(2, now(world)));
    await take(world, good(1, now(world)));
    await world.clock.advance(6_000);
    await take(world, good(1, now(world)));
    await world.clock.advance(2_000);
    await settle(world);
    t.match(incidents(world), [{ serviceId: 1 }, { serviceId: 2, status: 'investigating', startedAt: 361 }]);
    t.strictSame(failures(world, 2), {
      60: 'left out',
      120: 'left out',
      180: 'left out',
      240: 'left out',
      300: 'left out',
      361: 'counts',
    });
  },
);

t.test('it does not wait for a router that is new, was only slow, is paused or is unknown', async (t) => {
  const changes: [string, (world: World) => Promise<void>][] = [
    ['new', async () => {}],
    [
      'slow before',
      async (world) => {
        await take(world, good(1, now(world), { responseTimeMs: 20_000 }));
        await world.clock.advance(1_000);
        await take(world, good(1, now(world)));
      },
    ],
  ];
  for (const [name, change] of changes) {
    const world = await createHome();
    await world.clock.advance(20_000);
    await change(world);
    await world.clock.advance(10_000);
    await take(world, unanswered(2, now(world)));
    await world.clock.advance(1_000);
    await take(world, good(1, now(world)));
    await world.clock.advance(1_000);
    await settle(world);
    t.match(incidents(world), [{ serviceId: 2, status: 'investigating' }], name);
  }
  for (const paused of [true, false]) {
    const world = await createWorld({ services: [{ ...router, paused }, child(2)] });
    await take(world, good(2, START));
    await world.clock.advance(MINUTE);
    await take(world, unanswered(2, now(world)));
    t.match(incidents(world), [{ serviceId: 2, status: 'investigating' }], paused ? 'paused' : 'unknown');
  }
});

t.test('it follows what is behind something that is behind a router', async (t) => {
  const world = await createHome([router, child(2), child(3, { dependsOn: ['service-2'] })]);
  await world.clock.advance(MINUTE);
  await take(world, unanswered(3, now(world)));
  t.strictSame([...world.asked].sort(), [1, 2]);
  await world.clock.advance(1_000);
  await take(world, unanswered(2, now(world)), unanswered(1, now(world)));
  await world.clock.advance(3 * MINUTE);
  await settle(world);
  t.match(incidents(world), [{ serviceId: 1 }]);
  t.strictSame([failures(world, 2), failures(world, 3)], [{ 61: 'left out' }, { 60: 'left out' }]);
});

t.test('a process that takes over goes on from there', async (t) => {
  const before = await createHome();
  await before.clock.advance(MINUTE);
  await take(before, unanswered(2, now(before)));
  await before.record.stop();
  const { registry, clock } = before;
  const after = await createWorld({ services: [router, child(2)], registry, clock });
  await clock.advance(1_000);
  t.ok(after.asked.includes(1), 'what it depends on is checked again');
  await take(after, unanswered(1, now(after)));
  t.strictSame(failures(after, 2), { 60: 'left out' }, 'a failure before the start is left out afterwards');
  await clock.advance(MINUTE);
  await take(after, unanswered(2, now(after)), unanswered(1, now(after)));
  await after.record.stop();
  // One more, while both are down.
  const last = await createWorld({ services: [router, child(2)], registry, clock });
  await clock.advance(1_000);
  await take(last, unanswered(2, now(last)));
  await take(last, good(1, now(last)), good(2, now(last)));
  t.strictSame(failures(last, 2), { 121: 'left out', 122: 'left out' });
  t.match(incidents(last), [{ serviceId: 1 }]);
});

t.test('it leaves out results that arrive when the outage of the router is over', async (t) => {
  const world = await createHome();
  await world.clock.advance(10 * MINUTE);
  const at = START + MINUTE;
  await take(world, unanswered(1, at));
  await take(world, good(1, at + MINUTE));
  await take(world, unanswered(2, at - 20_000), good(2, at + 2 * MINUTE));
  await world.clock.advance(10 * MINUTE);
  await settle(world);
  t.strictSame(failures(world, 2), { 40: 'left out' });
  t.match(incidents(world), [{ serviceId: 1 }]);
});

t.test(
  'an outage of its own goes on while the router is down, and what happens meanwhile is left out',
  async (t) => {
    const world = await createHome();
    await world.clock.advance(MINUTE);
    await take(world, unanswered(2, now(world)), good(1, now(world)));
    await world.clock.advance(1_000);
    await take(world, good(1, now(world)));
    await world.clock.advance(2_000);
    await pass(world, 2, [1, 2]);
    await pass(world, 1, [], [1, 2]);
    t.match(incidents(world), [
      { serviceId: 2, status: 'monitoring', startedAt: 54 },
      { serviceId: 1, status: 'monitoring' },
    ]);
    t.strictSame(failures(world, 2), { 60: 'counts', 123: 'counts', 183: 'left out' });
  },
);

t.test('a heartbeat that is missed while the router is down is left out', async (t) => {
  const backup = child(2, { domain: 's2.example', check: { ...DEFAULT_CHECK, kind: 'heartbeat' } });
  const world = await createWorld({ services: [router, backup], silenceMs: MINUTE });
  await take(world, good(1, START));
  world.record.startListening();
  const beat = async (word: 'up' | 'down') => {
    const rest = { reported: null, timestamp: null, dependencies: null, run: null } as const;
    const report = { kind: 'beat', domain: 's2.example', word, ...rest } as const;
    const taken = world.record.takeHeartbeat({ report, accountId: 7, arrivedAt: now(world), body: '' });
    await settle(world);
    await taken;
  };
  await beat('up');
  await world.clock.advance(MINUTE - 5_000);
  await take(world, unanswered(1, now(world)));
  await world.clock.advance(2 * MINUTE);
  await settle(world);
  t.equal(world.published.get(2)?.status, 'down');
  t.strictSame(Object.values(failures(world, 2)), ['left out', 'left out']);
  await beat('down');
  t.match(incidents(world), [{ serviceId: 1 }], 'it was down before');
  await beat('up');
  await beat('down');
  t.match(incidents(world), [{ serviceId: 1 }, { serviceId: 2 }], 'what it reports of itself has reached us');
});

const ruled = (result: CheckResult, region = 'eu') => ({ result, suspect: false, region });

t.test('a process that takes over waits for what is loaded behind its results', async (t) => {
  const before = await createHome();
  await before.clock.advance(MINUTE);
  await take(before, unanswered(1, now(before)));
  await before.record.stop();
  const { registry, clock } = before;
  await clock.advance(1_000);
  const after = await createWorld({
    ...{ services: [router, child(2)], registry, clock },
    // The list of all services comes late.
    loadBehind: (source) => ({ ...source, servicesBetween: () => new Promise(() => {}) }),
  });
  void after.record.takeRuled([ruled(unanswered(2, now(after)))]);
  await settle(after);
  await clock.advance(3_000);
  await settle(after);
  t.ok(after.asked.includes(1), 'what it depends on is checked');
  t.match(incidents(after), [{ serviceId: 1 }]);
  t.equal(incidents(after).length, 1, 'it is not known yet whether it fails by itself');
  void after.record.takeRuled([ruled(unanswered(1, now(after)))]);
  await clock.advance(MINUTE);
  await settle(after);
  t.equal(incidents(after).length, 1);
  t.strictSame(failures(after, 2), { 61: 'left out' });
});

t.test('two services that depend on each other by mistake have an incident each', async (t) => {
  const world = await createHome([child(1, { dependsOn: ['service-2'] }), child(2)]);
  await pass(world, 5, [1, 2]);
  t.strictSame(
    incidents(world)
      .map(({ serviceId }) => serviceId)
      .sort(),
    [1, 2],
  );
  t.notOk(Object.values({ ...failures(world, 1), ...failures(world, 2) }).includes('left out'));
});

t.test('a failure of one region long before the outage of the router counts', async (t) => {
  const regions = { quorum: 2, voting: () => ['eu', 'us'], requestRechecks: () => {} };
  const world = await createWorld({ services: [router, child(2)], regions });
  const takeFrom = async (...results: readonly CheckResult[]) => {
    for (const region of ['eu', 'us']) void world.record.takeRuled(results.map((one) => ruled(one, region)));
    await settle(world);
  };
  await takeFrom(good(1, START), good(2, START));
  await world.clock.advance(MINUTE);
  void world.record.takeRuled([ruled(unanswered(2, now(world)))]);
  await world.clock.advance(1_000);
  await takeFrom(good(2, now(world)));
  await world.clock.advance(59 * MINUTE);
  await takeFrom(unanswered(1, now(world)), unanswered(2, now(world)));
  t.equal(world.published.get(2)?.status, 'down');
  t.strictSame(failures(world, 2), { 60: 'counts', 3601: 'left out' });
});

t.test('what fails after the clock was set back waits no longer than otherwise', async (t) => {
  const world = await createHome();
  await pass(world, 10, [1, 2]);
  await pass(world, 5, [], [1, 2]);
  world.clock.setBy(-10 * MINUTE);
  await pass(world, 1, [], [1, 2]);
  const known = incidents(world).length;
  await pass(world, 1, [2], [1]);
  for (let round = 0; round < 30; round++) {
    await world.clock.advance(10_000);
    await take(world, unanswered(2, now(world)), good(1, now(world)));
  }
  t.equal(incidents(world).length, known + 1);
});

t.test('what waits when the clock is set back goes on', async (t) => {
  const world = await createHome();
  await world.clock.advance(MINUTE);
  await take(world, unanswered(2, now(world)));
  world.clock.setBy(-60 * MINUTE);
  await world.clock.advance(46_000);
  await settle(world);
  t.match(incidents(world), [{ serviceId: 2, status: 'investigating' }]);
});

t.test('a process that takes over knows of an outage of the router that has ended', async (t) => {
  for (const isOver of [true, false]) {
    const before = await createHome();
    await before.clock.advance(MINUTE);
    await take(before, unanswered(1, now(before)), unanswered(2, now(before)));
    await pass(before, 2, [1, 2]);
    if (isOver) await pass(before, 1, [2], [1]);
    await before.record.stop();
    const { registry, clock } = before;
    await clock.advance(30_000);
    const after = await createWorld({ services: [router, child(2)], registry, clock });
    await clock.advance(1_000);
    await take(after, good(1, now(after)), unanswered(2, now(after)));
    t.match(incidents(after), [{ serviceId: 1 }]);
    t.equal(incidents(after).length, 1, 'it may be on its way back');
    for (const at of Object.values(failures(after, 2))) t.equal(at, 'left out');
    await pass(after, 3, [2], [1]);
    await clock.advance(8_000);
    await take(after, good(1, now(after)));
    await settle(after);
    const found = incidents(after);
    t.match(found, [{ serviceId: 1 }, { serviceId: 2, status: 'investigating' }]);
    t.ok((found[1]?.startedAt ?? 0) >= (isOver ? 360 : 330), 'it is down by itself from then on');
  }
});

t.test('what was behind a service that is removed is down by itself', async (t) => {
  const world = await createHome();
  await world.clock.advance(MINUTE);
  await take(world, unanswered(1, now(world)), unanswered(2, now(world)));
  await pass(world, 1, [1, 2]);
  const { dependsOn: _, ...alone } = child(2, { revision: 2 });
  world.record.applyChange({ seq: 1, slug: 'service-2', serviceId: 2, service: alone });
  world.record.applyChange({ seq: 2, slug: 'service-1', serviceId: 1, service: null });
  await pass(world, 2, [2]);
  t.match(incidents(world).at(-1), { serviceId: 2, status: 'investigating' });
});
