/** The times of a check: its own, or those of the settings. */
import t from 'tap';
import {
  freshMsOf,
  isCheckedFrom,
  isSameTiming,
  type OwnTiming,
  regionsOfCheck,
  timingOf,
} from '../../src/domain/check-timing.ts';
import { USUAL } from '../support/attempts.ts';

t.test('a time of its own replaces the setting, and the timeout fits into its own interval', async (t) => {
  const cases: readonly (readonly [OwnTiming, OwnTiming])[] = [
    [{ intervalMs: 30_000 }, { intervalMs: 30_000 }],
    [{ intervalMs: 5_000 }, { intervalMs: 5_000, timeoutMs: 5_000 }],
    [
      { intervalMs: 5_000, timeoutMs: 2_000 },
      { intervalMs: 5_000, timeoutMs: 2_000 },
    ],
    [{ timeoutMs: 30_000 }, { timeoutMs: 30_000 }],
    [{ timeoutMs: 90_000 }, { timeoutMs: 60_000 }],
    [{ slowOverMs: 100 }, { slowOverMs: 100 }],
    [{ confirmAfterMs: [] }, { confirmAfterMs: [] }],
  ];
  for (const [own, expected] of cases)
    t.strictSame(timingOf(own, USUAL), { ...USUAL, ...expected }, JSON.stringify(own));
  t.equal(timingOf({}, USUAL), USUAL, 'without times of its own nothing is made');
  const hasty = { ...USUAL, intervalMs: 1_000 };
  t.strictSame(
    timingOf({ slowOverMs: 9 }, hasty),
    { ...hasty, slowOverMs: 9 },
    'the settings stay as they are',
  );
});

t.test('a verdict counts for two intervals and the longest check of its service', async (t) => {
  t.equal(freshMsOf(USUAL), 150_000);
  t.equal(
    freshMsOf(timingOf({ intervalMs: 30_000, timeoutMs: 1_000, confirmAfterMs: [5_000] }, USUAL)),
    67_000,
  );
});

t.test('a service is checked from its regions, or from all', async (t) => {
  t.same([isCheckedFrom({}, 'eu'), isCheckedFrom({ regions: ['us'] }, 'eu')], [true, false]);
  t.same(regionsOfCheck({}, ['ap', 'eu']), ['ap', 'eu']);
  t.same(regionsOfCheck({ regions: ['us', 'eu'] }, ['ap', 'eu']), ['eu']);
});

t.test('it compares what was chosen', async (t) => {
  const own = { intervalMs: 1_000, confirmAfterMs: [1, 2] };
  t.equal(isSameTiming(own, { ...own, confirmAfterMs: [1, 2] }), true);
  for (const other of [{}, { ...own, timeoutMs: 1 }, { ...own, confirmAfterMs: [] }])
    t.equal(isSameTiming(own, other), false);
  t.equal(isSameTiming({}, { confirmAfterMs: [] }), false);
});
