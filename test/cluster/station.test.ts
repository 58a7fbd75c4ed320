/** The offline rule at a node: what it passes on to the judge, and what it checks again (decisions, offline rule). */

import fc from 'fast-check';
import t from 'tap';
import { createStation, phaseShiftOf, stepPhaseShift } from '../../src/cluster/station.ts';
import type { RuledResult } from '../../src/domain/result.ts';
import { silentLog } from '../../src/log.ts';
import { failed503, good, START, unanswered } from '../record/record-world.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { propertyRuns } from '../support/property-runs.ts';

function createWorld(controlTargets = 2, fleetSize = 2) {
  const clock = createFakeClock(START);
  const passed: string[] = [];
  const rechecks: unknown[] = [];
  const states: boolean[] = [];
  const world = { clock, passed, rechecks, states, answers: true };
  const station = createStation({
    ...{
      region: 'eu',
      slowOverMs: () => 3_000,
      firstSpreadMs: 60_000,
      controlTargets,
      clock,
      log: silentLog,
    },
    queryControlTargets: async () => world.answers,
    fleetSize: () => fleetSize,
    onRuled: (results: readonly RuledResult[]) =>
      passed.push(
        results.map((one) => `${one.region}:${one.result.serviceId}${one.suspect ? '?' : ''}`).join(' '),
      ),
    onRecheck: (serviceIds, spreadMs) => void rechecks.push({ serviceIds, spreadMs }),
  });
  station.watchProber(({ online }) => void states.push(online));
  return { ...world, world, station };
}

t.test('it passes good results on at once, in one batch', async (t) => {
  const { station, passed } = createWorld();
  station.takeResults([good(1, START), failed503(2, START)]);
  t.same(passed, ['eu:1 eu:2']);
});

t.test('it holds a failure until a control target has answered', async (t) => {
  const { station, passed, clock } = createWorld();
  station.takeResults([unanswered(1, START), good(2, START)]);
  t.same(passed, ['eu:2']);
  t.equal(station.prober().heldResults, 1);
  await clock.advance(10);
  t.same(passed, ['eu:2', 'eu:1']);
});

t.test('while it is offline its failures are suspect, and are checked again afterwards', async (t) => {
  const { station, world, passed, rechecks, states, clock } = createWorld();
  world.answers = false;
  station.noteDoubt(clock.now());
  await clock.advance(10);
  station.takeResults([unanswered(1, clock.now())]);
  t.same(passed, ['eu:1?']);
  t.match(station.prober(), { online: false, suspectCount: 1 });
  t.same(rechecks, []);
  world.answers = true;
  await clock.advance(2_000);
  station.takeResults([]);
  t.same(rechecks, [{ serviceIds: [1], spreadMs: 60_000 }]);
  t.same(states, [false, true]);
});

t.test('it does not check again what another node checks now', async (t) => {
  const { station, world, rechecks, clock } = createWorld();
  world.answers = false;
  station.noteDoubt(clock.now());
  await clock.advance(10);
  station.takeResults([unanswered(1, clock.now())]);
  station.forget(1);
  world.answers = true;
  await clock.advance(2_000);
  t.same(rechecks, []);
});

t.test('it passes held results on as suspect ones when it stops', async (t) => {
  const { station, passed } = createWorld();
  station.takeResults([unanswered(1, START), unanswered(2, START)]);
  station.forget(2);
  station.stop();
  station.stop();
  station.takeResults([good(1, START)]);
  t.same(passed, ['eu:1?']);
});

t.test('without control targets the majority of what it checks decides', async (t) => {
  const { station, passed, clock } = createWorld(0, 20);
  station.takeResults(Array.from({ length: 20 }, (_, index) => unanswered(index + 1, START)));
  t.same(passed, []);
  await clock.advance(1_000);
  t.equal(station.prober().online, false);
  t.equal(
    passed
      .join(' ')
      .split(' ')
      .filter((one) => one.endsWith('?')).length,
    20,
  );
});

const INTERVAL = 300_000;

t.test('it spreads the regions evenly over the interval, by name', async (t) => {
  const regions = ['us', 'asia', 'eu'];
  t.same(
    ['asia', 'eu', 'us', 'mars'].map((region) => phaseShiftOf(region, regions, INTERVAL)),
    [0, 100_000, 200_000, 0],
  );
  t.equal(phaseShiftOf('local', ['local'], INTERVAL), 0);
  t.equal(phaseShiftOf('local', [], INTERVAL), 0);
});

t.test('it moves backwards by at most an eighth of the interval, and arrives', async () => {
  const shift = fc.nat(INTERVAL - 1);
  fc.assert(
    fc.property(shift, shift, (from, to) => {
      let at = from;
      for (let intervals = 0; at !== to; intervals++) {
        if (intervals > 8) throw new Error('it does not arrive');
        const next = stepPhaseShift(at, to, INTERVAL);
        const backMs = (at - next + INTERVAL) % INTERVAL;
        if (backMs === 0 || backMs > INTERVAL / 8) throw new Error(`a step of ${backMs} ms`);
        at = next;
      }
      if (stepPhaseShift(at, to, INTERVAL) !== to) throw new Error('it does not stay');
    }),
    { numRuns: propertyRuns(200) },
  );
});
