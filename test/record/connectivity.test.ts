import fc from 'fast-check';
import t from 'tap';
import { propertyRuns } from '../support/property-runs.ts';
import { simulateFleet } from './fleet-simulation.ts';
import { createWorld, good, makeService, makeServices, START, unanswered } from './record-world.ts';

const NONE = 0;

t.test('it judges a fleet under ten services at once', async (t) => {
  const { record, registry, questions } = await createWorld({
    services: [
      ...makeServices(9),
      makeService(10, { paused: true }),
      makeService(11, { check: { ...makeService(11).check, kind: 'heartbeat' } }),
    ],
    controlTargets: NONE,
  });
  record.takeResults(makeServices(9).map(({ id }) => unanswered(id, START)));
  await record.idle();
  t.equal(registry.transitions.length, 9);
  t.same(questions, [], 'there are no control targets');
});

t.test(
  'it is offline while over half of at least ten services checked in the last minute failed',
  async (t) => {
    for (const [services, failing, online] of [
      [10, 6, false],
      [10, 5, true],
      [11, 6, false],
      [20, 10, true],
      [20, 20, false],
    ] as const) {
      const { record, registry, clock, samples } = await createWorld({
        services: makeServices(services),
        controlTargets: NONE,
      });
      record.takeResults(
        makeServices(services).map(({ id }) => (id <= failing ? unanswered(id, START) : good(id, START))),
      );
      await clock.advance(1_000);
      t.equal(record.prober().online, online, `${failing} of ${services}`);
      if (online) continue;
      t.equal(record.prober().offlineSince, START - 6_000);
      t.match(record.prober().reason, /over half of the services checked in the last minute/);
      t.equal(registry.transitions.filter(({ to }) => to === 'down').length, 0);
      t.equal(samples.filter(({ suspect }) => suspect).length, failing);
    }
  },
);

t.test(
  'it suspects a slow answer like a failure where many fail, and believes it at once where none does',
  async (t) => {
    for (const failing of [8, 0]) {
      const { record, registry, samples, clock } = await createWorld({
        services: makeServices(12),
        controlTargets: NONE,
      });
      const at = START + 5_000;
      await clock.advance(5_000);
      record.takeResults(
        makeServices(12).map(({ id }) =>
          id <= failing ? unanswered(id, at) : good(id, START, { responseTimeMs: 4_000, endedAt: at }),
        ),
      );
      if (failing > 0) await clock.advance(1_000);
      await record.idle();
      t.equal(registry.transitions.length, failing === 0 ? 12 : 0);
      t.same(new Set(samples.map(({ suspect }) => suspect)), new Set([failing > 0]));
    }
  },
);

t.test('it counts a service of the last minute once, by its newest check', async (t) => {
  const { record, clock } = await createWorld({ services: makeServices(10), controlTargets: NONE });
  for (const at of [1_000, 2_000, 3_000])
    record.takeResults(Array.from({ length: 5 }, (_, index) => unanswered(index + 1, START + at)));
  record.takeResults(Array.from({ length: 5 }, (_, index) => good(index + 6, START + 3_000)));
  await clock.advance(5_000);
  t.equal(record.prober().online, true);
});

t.test('it comes back when the minute no longer says otherwise, and checks again', async (t) => {
  const { record, clock, rechecks } = await createWorld({ services: makeServices(12), controlTargets: NONE });
  record.takeResults(makeServices(12).map(({ id }) => unanswered(id, START)));
  await clock.advance(1_000);
  t.equal(record.prober().online, false);
  record.takeResults(Array.from({ length: 6 }, (_, index) => good(index + 1, START + 1_000)));
  await clock.advance(1_000);
  t.equal(record.prober().online, true);
  t.same(rechecks, [{ serviceIds: makeServices(12).map(({ id }) => id), spreadMs: 60_000 }]);
});

t.test('it waits for peers that are still being confirmed, as the failing check was', async (t) => {
  const { record, registry, clock } = await createWorld({ services: makeServices(60), controlTargets: NONE });
  await clock.advance(10_000);
  const at = clock.now();
  const ids = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  record.takeResults(ids(20, 60).map((id) => good(id, at - 9_000)));
  record.takeResults([unanswered(1, at)]);
  record.takeResults(ids(2, 7).map((id) => good(id, at)));
  await clock.advance(1_000);
  record.takeResults(ids(8, 13).map((id) => good(id, at + 1_000)));
  await clock.advance(4_000);
  t.equal(record.prober().heldResults, 1, 'those that answered are known earlier than those that do not');
  record.takeResults(ids(14, 19).map((id) => unanswered(id, at + 5_000)));
  record.takeResults(ids(20, 32).map((id) => unanswered(id, at + 5_000)));
  await clock.advance(5_000);
  t.equal(registry.transitions.filter(({ to }) => to === 'down').length, 0);
  t.equal(record.prober().heldResults, 0);
});

t.test('it holds no failure for longer than a minute', async (t) => {
  const { record, registry, clock } = await createWorld({ services: makeServices(12), controlTargets: NONE });
  record.takeResults([unanswered(1, START)]);
  await clock.advance(59_000);
  t.same(registry.transitions, []);
  await clock.advance(2_000);
  t.match(registry.transitions, [{ to: 'down', at: START - 6_000 }]);
});

t.test('it finds a single service that is down by its peers, soon', async (t) => {
  for (const [services, intervalMs, withinMs] of [
    [600, 300_000, 20_000],
    [12, 1_000, 10_000],
  ] as const) {
    const fleet = await simulateFleet({
      services,
      intervalMs,
      controlTargets: NONE,
      outages: [],
      dead: new Map([[5, 0]]),
    });
    await fleet.runTo(Math.floor((5 * intervalMs) / services) + withinMs);
    t.same(fleet.downs(), [5]);
  }
});

t.test(
  'it makes no wrong transition when the network is lost under 600 services, long or short',
  async (t) => {
    for (const outage of [
      [300_000, 600_000],
      [300_000, 320_000],
      [300_000, 307_000],
    ] as const) {
      const fleet = await simulateFleet({
        services: 600,
        intervalMs: 300_000,
        controlTargets: NONE,
        outages: [outage],
        dead: new Map([[42, 350_000]]),
      });
      await fleet.runTo(750_000);
      t.same(fleet.downs(), [42], `without network for ${outage[1] - outage[0]} ms`);
      t.equal(fleet.registry.transitions.length, 601);
      t.equal(fleet.record.prober().online, true);
    }
  },
);

t.test('it leaves every service unknown that is started without a network', async (t) => {
  const fleet = await simulateFleet({
    services: 60,
    intervalMs: 60_000,
    controlTargets: NONE,
    outages: [[0, 1_000_000]],
    dead: new Map(),
  });
  await fleet.runTo(150_000);
  t.same(fleet.registry.transitions, []);
  t.equal(fleet.record.prober().online, false);
});

t.test('it never takes the loss of its network for a service’s failure', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 60_000 }),
      fc.integer({ min: 100, max: 60_000 }),
      fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
      async (from, lengthMs, dead) => {
        const fleet = await simulateFleet({
          services: 60,
          intervalMs: 20_000,
          controlTargets: NONE,
          outages: [[from, from + lengthMs]],
          dead: new Map(dead.map((id) => [id, 0])),
        });
        await fleet.runTo(240_000);
        const found = fleet.downs().sort((a, b) => a - b);
        const expected = dead.toSorted((a, b) => a - b);
        if (`${found}` !== `${expected}`) throw new Error(`down: ${found}; expected: ${expected}`);
      },
    ),
    { numRuns: propertyRuns(8) },
  );
});
