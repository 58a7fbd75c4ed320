/** The common cause of several failures. */

import fc from 'fast-check';
import t from 'tap';
import type { CauseFacts } from '../../../src/domain/alert/alert-draft.ts';
import { findCommonCause } from '../../../src/domain/alert/common-cause.ts';
import { propertyRuns } from '../../support/property-runs.ts';
import { AlertWorld, MINUTE, ruleOf } from './alert-world.ts';
import { houseOf, type Outage, playHousehold, type Told } from './household.ts';

const BEGAN = 1000;

/** Services 1, 2, ...: `more` of each, which fails if it is listed in `failing`. */
function causeOf(failing: number, all: readonly Partial<CauseFacts>[]) {
  const facts = all.map((more, index): CauseFacts => {
    const isDown = index < failing;
    return { serviceId: index + 1, status: isDown ? 'down' : 'up', checkedAt: BEGAN + 500, ...more };
  });
  const found = findCommonCause(
    new Map(facts.slice(0, failing).map(({ serviceId }) => [serviceId, BEGAN])),
    facts,
  );
  return found === null ? null : `${found.kind} ${found.name}`;
}

const at = (...addresses: string[]) => ({ addresses });
const needs = (name: string, fails = true) => ({ dependencies: [{ name, fails }] });
const by = (name: string, hasIncident = true) => ({ vendors: [{ name, hasIncident }] });
const has = (validUntil: string, fails = true) => ({ certificate: { validUntil, fails } });
const seen = (...failing: string[]) => ({
  regions: ['eu', 'us', 'asia'].map((name) => ({ name, fails: failing.includes(name) })),
});

t.test('it is named where it explains enough, and no service that is well has it', async (t) => {
  const table: readonly [
    name: string,
    failing: number,
    all: readonly Partial<CauseFacts>[],
    cause: string | null,
  ][] = [
    ['an address of both', 2, [at('192.0.2.1'), at('192.0.2.9', '192.0.2.1')], 'address 192.0.2.1'],
    ['no address of both', 2, [at('192.0.2.1'), at('192.0.2.2')], null],
    ['an address that is well elsewhere', 2, [at('192.0.2.1'), at('192.0.2.1'), at('192.0.2.1')], null],
    ['well before it began', 2, [at('a'), at('a'), { ...at('a'), checkedAt: BEGAN - 1 }], 'address a'],
    ['not known to be well', 2, [at('a'), at('a'), { ...at('a'), status: 'unknown' }], 'address a'],
    ['four of five', 5, [at('a'), at('a'), at('a'), at('a'), at('b')], 'address a'],
    ['three of four', 4, [at('a'), at('a'), at('a'), at('b')], null],
    ['one of two', 2, [at('a'), {}], null],
    ['a dependency', 2, [needs('postgres'), needs('postgres'), needs('redis', false)], 'dependency postgres'],
    ['a dependency that does not fail', 2, [needs('postgres', false), needs('postgres', false)], null],
    ['a dependency that another one is well with', 2, [needs('db'), needs('db'), needs('db')], null],
    ['a vendor with an incident', 2, [by('Cloud'), by('Cloud')], 'vendor Cloud'],
    ['a vendor without one', 2, [by('Cloud', false), by('Cloud', false)], null],
    ['a region', 2, [seen('eu'), seen('eu'), {}], 'region eu'],
    ['a region that another one is well in', 2, [seen('eu'), seen('eu'), seen()], null],
    ['everywhere is no region', 2, [seen('eu', 'us', 'asia'), seen('eu', 'us', 'asia')], null],
    ['a certificate', 2, [has('May'), has('May'), has('June', false)], 'certificate May'],
    ['a certificate that another one is well with', 2, [has('May'), has('May'), has('May', false)], null],
    ['a certificate that is not why', 2, [has('May', false), has('May', false)], null],
    [
      'the one that says more of two',
      2,
      [
        { ...at('a'), ...needs('db') },
        { ...at('a'), ...needs('db') },
      ],
      'dependency db',
    ],
    [
      'the one that explains more of two',
      5,
      [0, 1, 2, 3, 4].map((n) => ({ ...at('a'), ...(n < 4 ? needs('db') : {}) })),
      'address a',
    ],
  ];
  for (const [name, failing, all, cause] of table) t.equal(causeOf(failing, all), cause, name);
});

t.test('a message of several outages names it', async (t) => {
  const world = new AlertWorld();
  world.causes = [1, 2].map((serviceId) => ({ serviceId, status: 'down', checkedAt: 0, ...at('192.0.2.1') }));
  world.down(0, 1);
  world.down(0, 2);
  world.down(MINUTE, 3);
  world.pass(5 * MINUTE);
  t.same(
    world.sent.map(({ message }) => message.cause),
    [{ kind: 'address', name: '192.0.2.1' }, null],
  );
});

const HOUR_S = 3_600;

const alertsIn = (told: readonly Told[]) => told.filter(({ type }) => type === 'alert').map(({ id }) => id);

t.test(
  'it tells one alert for each cause in a household of sixty things, and none for what is behind it',
  async (t) => {
    const plan = houseOf(60);
    const play = (...outages: Outage[]) => playHousehold(plan, outages, HOUR_S);
    t.strictSame(alertsIn(play({ id: 1, from: 300, to: 1_200 })), [1], 'a router');
    t.strictSame(alertsIn(play({ id: 7, from: 300, to: 1_200 })), [7], 'a thing');
    t.strictSame(
      alertsIn(play({ id: 1, from: 300, to: 1_200 }, { id: 2, from: 300, to: 900 })).sort(),
      [1, 2],
      'both routers at once',
    );
    const behind = play({ id: 1, from: 300, to: 1_200 }, { id: 10, from: 600, to: 1_100 });
    t.strictSame(alertsIn(behind), [1], 'a thing that fails for a time while its router is down');
    const own = play({ id: 2, from: 300, to: 1_200 }, { id: 9, from: 600, to: 2_400 });
    t.strictSame(alertsIn(own), [2, 9], 'a thing that still fails after its router has recovered');
    const other = play({ id: 2, from: 300, to: 1_200 }, { id: 8, from: 600, to: 900 });
    t.strictSame(alertsIn(other), [2, 8], 'a thing behind the other router');
    const flaps = [300, 500, 700, 900, 1_100, 1_300].map((from) => ({ id: 1, from, to: from + 100 }));
    t.strictSame([...new Set(alertsIn(play(...flaps)))], [1], 'a router that flaps');
  },
);

t.test('it tells what is down by itself within seconds of the failure', async (t) => {
  const told = playHousehold(houseOf(6), [{ id: 5, from: 300, to: 900 }], HOUR_S);
  const [alert, recovery] = told;
  t.strictSame([told.length, alert?.id, alert?.type, recovery?.type], [2, 5, 'alert', 'recovery']);
  // A check is made every minute, and a failure is confirmed after six seconds.
  t.ok((alert?.at ?? 0) <= 300 + 60 + 6 + 5);
});

t.test('it tells a channel that is not told of the router what is behind it', async (t) => {
  const of = { own: false, services: [3, 5], categories: [], publicCategories: [], pages: [] };
  const told = playHousehold(houseOf(6), [{ id: 2, from: 300, to: 900 }], HOUR_S, [ruleOf({ of })]);
  t.strictSame([...new Set(alertsIn(told))].sort(), [3, 5]);
});

t.test('it follows what is behind others that are behind a router', async (t) => {
  const plan = new Map([
    [1, []],
    [2, [1]],
    [3, [2]],
    [4, [3, 2]],
  ]);
  t.strictSame(alertsIn(playHousehold(plan, [{ id: 1, from: 300, to: 900 }], HOUR_S)), [1]);
  t.strictSame(alertsIn(playHousehold(plan, [{ id: 2, from: 300, to: 900 }], HOUR_S)), [2]);
  t.strictSame(
    alertsIn(
      playHousehold(
        plan,
        [
          { id: 1, from: 300, to: 900 },
          { id: 3, from: 310, to: 2_000 },
        ],
        HOUR_S,
      ),
    ),
    [1, 3],
  );
});

t.test('in any household nothing but causes is told, and each of them once', async () => {
  const outage = (ids: fc.Arbitrary<number>) =>
    fc.tuple(ids, fc.integer({ min: 100, max: 6_000 }), fc.integer({ min: 150, max: 2_000 }));
  fc.assert(
    fc.property(
      fc.array(outage(fc.integer({ min: 1, max: 2 })), { maxLength: 2 }),
      fc.array(outage(fc.integer({ min: 3, max: 12 })), { maxLength: 3 }),
      (routers, things) => {
        const all = [...routers, ...things].map(([id, from, length]) => ({ id, from, to: from + length }));
        // One outage of each service, so that none flaps.
        const outages = all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index);
        const told = playHousehold(houseOf(10), outages, 4 * HOUR_S);
        const alerts = alertsIn(told);
        const failing = new Set(outages.map(({ id }) => id));
        const isTwice = alerts.some((id, index) => alerts.indexOf(id) !== index);
        const isWrong = alerts.some((id) => !failing.has(id));
        const isMissed = outages.some(({ id, from, to }) => {
          if (alerts.includes(id)) return false;
          const router = id < 3 ? undefined : outages.find((other) => other.id === 1 + (id % 2));
          // What has ended while its router was down, or soon after, was never told.
          return router === undefined || to < router.from - 100 || from > router.to + 100
            ? true
            : to > router.to + 400 && to - from > 500;
        });
        return !isTwice && !isWrong && !isMissed;
      },
    ),
    { numRuns: propertyRuns(100) },
  );
});
