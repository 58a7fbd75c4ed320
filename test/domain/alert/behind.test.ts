/** What is behind a router that is down is not told, and nothing that is down by itself is missed. */
import fc from 'fast-check';
import t from 'tap';
import { propertyRuns } from '../../support/property-runs.ts';
import { ruleOf } from './alert-world.ts';
import { houseOf, type Outage, playHousehold, type Told } from './household.ts';

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
