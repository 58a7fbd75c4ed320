import fc from 'fast-check';
import t from 'tap';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';
import { simulateFleet } from './fleet-simulation.ts';
import { createWorld, failed503, good, makeServices, START, unanswered } from './record-world.ts';

const NO_ANSWER = (): Promise<boolean> => new Promise(() => {});

t.test('it holds a failure without an HTTP response until a control target has answered', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, questions, settle } = world;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  world.control = () => promise;
  record.takeResults([unanswered(1, START)]);
  await settle();
  t.same(questions, [START], 'asked at once');
  t.same(registry.transitions, []);
  t.same(samples, []);
  t.match(record.prober(), { online: true, heldResults: 1, suspectCount: 0 });
  resolve(true);
  await settle();
  t.match(registry.transitions, [{ from: 'unknown', to: 'down', at: START - 6_000 }]);
  t.equal([...registry.incidents.values()][0]?.title, 'Service 1 is not reachable');
  t.same(samples, [
    { serviceId: 1, at: START, status: 'down', latencyMs: null, statusCode: 0, suspect: false },
  ]);
  t.match(record.prober(), { online: true, offlineSince: null, reason: null, heldResults: 0 });
});

t.test('it publishes a failure at once if the target responded, even without an HTTP status', async (t) => {
  const world = await createWorld();
  const { record, registry, questions, settle } = world;
  world.control = NO_ANSWER;
  record.takeResults([unanswered(1, START, { answered: true })]);
  await settle();
  t.same(questions, []);
  t.match(registry.transitions, [{ from: 'unknown', to: 'down', at: START - 6_000 }]);
});

t.test('it does not let an answer speak for a failure that came after the question', async (t) => {
  const world = await createWorld({ services: makeServices(2) });
  const { record, registry, clock, questions } = world;
  record.noteDoubt(START);
  await clock.advance(500);
  t.same(questions, [START]);
  record.takeResults([
    unanswered(1, START + 500, { attempts: 1, firstFailedAt: START + 400, startedAt: START + 400 }),
  ]);
  await clock.advance(1_400);
  t.same(registry.transitions, []);
  await clock.advance(200);
  t.same(questions, [START, START + 2_000]);
  t.equal(registry.transitions.length, 1);
});

t.test('it asks one question for all failures of the same 2 s', async (t) => {
  const world = await createWorld({ services: makeServices(200) });
  const { record, registry, clock, questions } = world;
  for (let index = 0; index < 200; index++) {
    await clock.advance(20);
    record.noteDoubt(clock.now());
    record.takeResults([unanswered(index + 1, clock.now())]);
  }
  await clock.advance(5_000);
  t.equal(registry.transitions.length, 200);
  t.same(questions, [START + 20, START + 2_020, START + 4_020]);
});

t.test('it asks nothing again where a question since the last attempt was answered', async (t) => {
  const { record, registry, clock, questions } = await createWorld({ services: makeServices(2) });
  record.noteDoubt(START);
  await clock.advance(100);
  record.takeResults([unanswered(1, START + 100, { startedAt: START - 50 })]);
  await record.idle();
  t.equal(questions.length, 1);
  t.equal(registry.transitions.length, 1);
});

t.test('it waits for control targets for 3 s at most, and is offline then', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, clock, lines } = world;
  world.control = NO_ANSWER;
  const states: unknown[] = [];
  record.watchProber(({ online, offlineSince }) => states.push({ online, offlineSince }));
  record.takeResults([unanswered(1, START)]);
  await clock.advance(2_999);
  t.match(record.prober(), { online: true, heldResults: 1 });
  await clock.advance(1);
  t.same(record.prober(), {
    online: false,
    offlineSince: START - 1,
    reason: 'none of the 2 control targets answers',
    heldResults: 0,
    suspectCount: 1,
  });
  t.same(states, [{ online: false, offlineSince: START - 1 }]);
  t.same(registry.transitions, []);
  t.same(
    samples.map(({ suspect }) => suspect),
    [true],
    'one sample in the end',
  );
  t.match(lines, [
    'warn: the prober is offline: none of the 2 control targets answers; nothing is marked down',
  ]);
  world.control = async () => true;
  await clock.advance(10_000);
  t.equal(record.prober().online, true);
  const offlineSince = new Date(START - 1).toISOString();
  t.same(world.fields, [{ offlineSince }, { offlineSince }], 'the log has times in ISO 8601');
});

t.test('it takes a question that fails for a no', async (t) => {
  const world = await createWorld();
  world.control = async () => {
    throw new Error('no route');
  };
  world.record.takeResults([unanswered(1, START)]);
  await world.settle();
  t.equal(world.record.prober().online, false);
});

t.test('it asks again with a back-off of up to 5 s until a control target answers', async (t) => {
  const world = await createWorld();
  const { record, clock, questions, rechecks } = world;
  world.control = async () => false;
  record.takeResults([unanswered(1, START)]);
  await clock.advance(18_000);
  t.same(
    questions.map((at) => (at - START) / 1_000),
    [0, 1, 3, 7, 12, 17],
  );
  t.same(rechecks, []);
  world.control = async () => true;
  await clock.advance(4_000);
  t.match(record.prober(), { online: true, offlineSince: null, reason: null });
  t.same(rechecks, [{ serviceIds: [1], spreadMs: 60_000 }], 'all services affected are checked again');
  await clock.advance(60_000);
  t.equal(questions.length, 7, 'and then it is quiet');
});

t.test('it keeps status, last check and latest check while the prober is offline', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, published, clock } = world;
  record.takeResults([good(1, START - 1_000)]);
  await record.idle();
  const before = published.get(1);
  world.control = async () => false;
  record.takeResults([unanswered(1, START)]);
  await clock.advance(100);
  record.takeResults([unanswered(1, START + 100), failed503(1, START + 100)]);
  record.takeResults([good(1, START + 100, { responseTimeMs: 8_000 })]);
  await clock.advance(1_000);
  t.same(published.get(1), before);
  t.same(registry.current(1), before);
  t.same(
    samples.map(({ status, suspect }) => [status, suspect]),
    [
      ['up', false],
      ['down', true],
      ['down', true],
      ['down', true],
      ['slow', true],
    ],
  );
});

t.test('it believes an `up` while the prober is offline, which ends nothing', async (t) => {
  const world = await createWorld();
  const { record, published, clock } = world;
  world.control = async () => false;
  record.takeResults([unanswered(1, START)]);
  await clock.advance(100);
  record.takeResults([good(1, START + 100)]);
  await record.idle();
  t.equal(published.get(1)?.status, 'up');
  t.equal(record.prober().online, false);
});

t.test('it suspects every failure that overlaps an outage of the prober, and checks again', async (t) => {
  const world = await createWorld({ services: makeServices(4) });
  const { record, registry, samples, rechecks, clock } = world;
  world.control = async () => false;
  record.noteDoubt(START);
  await clock.advance(500);
  world.control = async () => true;
  await clock.advance(5_500);
  t.equal(record.prober().online, true);
  const at = START + 6_000;
  record.takeResults([
    unanswered(1, at),
    failed503(2, at),
    failed503(3, at, { firstFailedAt: START + 3_000 }),
    good(4, at, { attempts: 2, firstFailedAt: START }),
  ]);
  await clock.advance(3_000);
  t.same(
    registry.transitions.map(({ serviceId, to }) => [serviceId, to]),
    [
      [3, 'down'],
      [4, 'up'],
    ],
  );
  t.same(
    samples.map(({ serviceId, suspect }) => [serviceId, suspect]),
    [
      [1, true],
      [2, true],
      [3, false],
      [4, false],
    ],
  );
  t.same(rechecks, [{ serviceIds: [1, 2], spreadMs: 60_000 }]);
});

t.test('it suspects a slow answer that overlaps an outage of the prober, and checks again', async (t) => {
  const world = await createWorld({ services: makeServices(2) });
  const { record, registry, samples, rechecks, clock } = world;
  world.control = async () => false;
  record.noteDoubt(START);
  await clock.advance(500);
  world.control = async () => true;
  await clock.advance(1_500);
  t.equal(record.prober().online, true);
  await clock.advance(4_000);
  const slow = { responseTimeMs: 4_000, endedAt: START + 5_500 };
  record.takeResults([good(1, START + 500, slow), good(2, START + 1_500, slow)]);
  await record.idle();
  t.same(
    registry.transitions.map(({ serviceId, to }) => [serviceId, to]),
    [[2, 'slow']],
  );
  t.same(
    samples.map(({ serviceId, suspect }) => [serviceId, suspect]),
    [
      [1, true],
      [2, false],
    ],
  );
  t.same(rechecks, [{ serviceIds: [1], spreadMs: 60_000 }]);
});

t.test('it holds a slow answer while it is being asked whether the prober is online', async (t) => {
  for (const online of [true, false]) {
    const world = await createWorld();
    const { record, registry, samples, settle } = world;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    world.control = () => promise;
    record.noteDoubt(START);
    record.takeResults([good(1, START, { responseTimeMs: 4_000 })]);
    await settle();
    t.match([registry.transitions, samples, record.prober()], [[], [], { heldResults: 1 }]);
    resolve(online);
    await settle();
    await record.idle();
    t.same(
      registry.transitions.map(({ to }) => to),
      online ? ['slow'] : [],
    );
    t.same(
      samples.map(({ suspect }) => suspect),
      [!online],
    );
  }
});

/** Answers the control targets `ms` after each question; null: never. */
function answerAfter(world: Awaited<ReturnType<typeof createWorld>>, ms: number | null): void {
  const { clock } = world;
  world.control = () => new Promise((resolve) => ms !== null && clock.after(ms, () => resolve(true)));
}

t.test(
  'it suspects a slow response where the control targets were as late, though no attempt failed',
  async (t) => {
    const world = await createWorld({ services: makeServices(2) });
    const { record, registry, samples, rechecks, clock } = world;
    answerAfter(world, 100);
    record.noteDelay();
    await clock.advance(10_000);
    answerAfter(world, 1_000);
    record.noteDelay();
    await clock.advance(2_000);
    t.match(record.prober(), { online: true, offlineSince: null });
    const slow = { responseTimeMs: 3_100 };
    record.takeResults([
      good(1, START + 9_000, { ...slow, endedAt: START + 12_000 }),
      good(2, START + 5_000, { ...slow, endedAt: START + 8_100 }),
    ]);
    await record.idle();
    t.same(
      registry.transitions.map(({ serviceId, to }) => [serviceId, to]),
      [[2, 'slow']],
    );
    t.same(
      samples.map(({ serviceId, suspect }) => [serviceId, suspect]),
      [
        [1, true],
        [2, false],
      ],
    );
    t.same(rechecks, [{ serviceIds: [1], spreadMs: 60_000 }]);
  },
);

t.test('it suspects a slow response where the control targets kept silent meanwhile', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, clock } = world;
  answerAfter(world, null);
  record.noteDelay();
  await clock.advance(3_500);
  t.equal(record.prober().online, true, 'a delay alone does not make the prober offline');
  record.takeResults([good(1, START - 1_000, { responseTimeMs: 4_500, endedAt: START + 3_500 })]);
  await record.idle();
  t.match([registry.transitions, samples, record.prober()], [[], [], { heldResults: 1 }]);
  answerAfter(world, 50);
  await clock.advance(2_000);
  t.same([registry.transitions, samples.map(({ suspect }) => suspect)], [[], [true]]);
});

t.test(
  'it dates an outage back to the question of a slow response, once an attempt has failed',
  async (t) => {
    const world = await createWorld();
    const { record, registry, samples, clock } = world;
    answerAfter(world, null);
    record.noteDelay();
    record.takeResults([good(1, START - 1_000, { responseTimeMs: 3_400, endedAt: START + 2_400 })]);
    await clock.advance(5_000);
    t.match([record.prober(), samples], [{ online: true, heldResults: 1 }, []]);
    record.noteDoubt(START + 5_000);
    await clock.advance(3_000);
    t.match(record.prober(), { online: false, offlineSince: START, heldResults: 0 });
    t.same([registry.transitions, samples.map(({ suspect }) => suspect)], [[], [true]]);
  },
);

t.test('it believes a slow response where the control targets never answer and nothing fails', async (t) => {
  const world = await createWorld();
  const { record, registry, clock, questions } = world;
  answerAfter(world, null);
  record.noteDelay();
  record.takeResults([good(1, START - 1_000, { responseTimeMs: 4_500, endedAt: START })]);
  await clock.advance(10_500);
  t.same(registry.transitions, []);
  await clock.advance(500);
  t.match(registry.transitions, [{ to: 'slow' }]);
  await clock.advance(60_000);
  t.equal(questions.length, 3);
  t.equal(record.prober().online, true);
});

t.test('it believes a slow response where the control targets are no later than usual', async (t) => {
  const world = await createWorld();
  const { record, registry, clock } = world;
  answerAfter(world, 1_500);
  record.noteDelay();
  await clock.advance(10_000);
  record.noteDelay();
  await clock.advance(2_000);
  record.takeResults([good(1, START + 9_000, { responseTimeMs: 3_100, endedAt: START + 12_100 })]);
  await record.idle();
  t.match(registry.transitions, [{ to: 'slow' }]);
});

t.test('it takes no standstill of its own for silence of the control targets', async (t) => {
  const clock = createFakeClock(START);
  let stoodStillMs = 0;
  const world = await createWorld({
    clock: { ...clock, monotonic: () => clock.monotonic() + stoodStillMs },
  });
  const { record, registry } = world;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  world.control = () => promise;
  record.takeResults([unanswered(1, START)]);
  await clock.advance(1_000);
  stoodStillMs = 60_000;
  await clock.advance(1_000);
  t.match(record.prober(), { online: true, heldResults: 1 });
  resolve(true);
  await world.settle();
  t.match(registry.transitions, [{ to: 'down' }]);
});

t.test('it takes own faults for a first sign of an outage', async (t) => {
  const world = await createWorld();
  const { record, samples, rechecks, clock } = world;
  world.control = async () => false;
  record.takeResults([unanswered(1, START, { suspect: 'own_fault' })]);
  await clock.advance(100);
  t.equal(record.prober().online, false);
  world.control = async () => true;
  await clock.advance(5_000);
  t.same(rechecks, [{ serviceIds: [1], spreadMs: 60_000 }]);
  t.same(
    samples.map(({ suspect }) => suspect),
    [true],
  );
});

t.test('it lets a newer result win over one on hold', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, clock, settle } = world;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  world.control = () => promise;
  await clock.advance(1_000);
  record.takeResults([unanswered(1, START)]);
  record.takeResults([good(1, START + 500)]);
  await settle();
  resolve(true);
  await settle();
  await record.idle();
  t.same(
    registry.transitions.map(({ to }) => to),
    ['up'],
  );
  t.equal(samples.length, 2);
});

t.test('it makes results on hold suspect samples when it stops', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, clock } = world;
  world.control = NO_ANSWER;
  record.takeResults([unanswered(1, START)]);
  await record.stop();
  t.same(registry.transitions, []);
  t.same(
    samples.map(({ suspect }) => suspect),
    [true],
  );
  await clock.advance(20_000);
  t.equal(world.questions.length, 1, 'no control target is queried any more');
});

t.test('it drops a result on hold whose service is removed meanwhile', async (t) => {
  const world = await createWorld();
  const { record, registry, samples, clock } = world;
  record.takeResults([unanswered(1, START)]);
  record.applyChange({ seq: 1, serviceId: 1, slug: 'service-1', service: null });
  await clock.advance(5_000);
  t.same(registry.transitions, []);
  t.same(samples, []);
});

t.test('it makes no transition when the network is lost under 600 services', async (t) => {
  const fleet = await simulateFleet({
    services: 600,
    intervalMs: 300_000,
    controlTargets: 3,
    outages: [[300_000, 700_000]],
    // One that dies during the outage, for good.
    dead: new Map([[42, 500_000]]),
  });
  await fleet.runTo(300_000);
  t.equal(fleet.registry.transitions.length, 600);
  await fleet.runTo(699_000);
  t.equal(fleet.registry.transitions.length, 600);
  t.match(fleet.record.prober(), { online: false, heldResults: 0 });
  t.ok((fleet.record.prober().offlineSince ?? 0) - START - 300_000 < 1_000);
  t.ok(
    [...fleet.published.values()].every(
      ({ status, observedAt }) => status === 'up' && observedAt < START + 300_250,
    ),
  );
  await fleet.runTo(712_000);
  t.equal(fleet.registry.transitions.length, 600);
  t.equal(new Set(fleet.rechecks.flatMap(({ serviceIds }) => serviceIds)).size, 600);
  await fleet.runTo(800_000);
  t.same(fleet.downs(), [42], 'one that really is down is found afterwards');
  t.equal(fleet.registry.transitions.length, 601);
  const trusted = fleet.samples.filter(({ suspect }) => !suspect);
  t.ok(trusted.every(({ status, serviceId }) => status === 'up' || serviceId === 42));
});

t.test('it leaves every service unknown that is started without a network', async (t) => {
  const fleet = await simulateFleet({
    services: 100,
    intervalMs: 30_000,
    controlTargets: 3,
    outages: [[0, 1_000_000]],
    dead: new Map(),
  });
  await fleet.runTo(60_000);
  t.same(fleet.registry.transitions, []);
  t.ok([...fleet.published.values()].every(({ status, latest }) => status === 'unknown' && latest === null));
});

t.test('it never takes its own outage for a service’s, and finds every service that is down', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 60_000 }), fc.integer({ min: 100, max: 25_000 })), {
        maxLength: 3,
      }),
      fc.dictionary(fc.integer({ min: 1, max: 30 }).map(String), fc.integer({ min: 0, max: 80_000 }), {
        maxKeys: 4,
      }),
      async (cuts, dead) => {
        const fleet = await simulateFleet({
          services: 30,
          intervalMs: 15_000,
          controlTargets: 1,
          outages: cuts.map(([from, lengthMs]) => [from, from + lengthMs] as const),
          dead: new Map(Object.entries(dead).map(([id, at]) => [Number(id), at])),
        });
        await fleet.runTo(180_000);
        const found = new Set(fleet.downs());
        for (const id of fleet.registry.ids)
          if (found.has(id) !== Object.hasOwn(dead, String(id)))
            throw new Error(`service ${id}: ${found.has(id) ? 'wrongly down' : 'not found'}`);
        if (fleet.downs().length !== found.size) throw new Error('down twice');
      },
    ),
    { numRuns: propertyRuns(8) },
  );
});
