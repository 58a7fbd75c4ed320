/** Which services are checked from a region, and when a changed definition is the same check. */
import t from 'tap';
import {
  checkTargetOf,
  freshMsOf,
  isCheckedFrom,
  isSameCheck,
  isSameTiming,
  type OwnTiming,
  regionsOfCheck,
  timingOf,
} from '../../src/domain/check-target.ts';
import { NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK, type Service } from '../../src/domain/service.ts';
import { entry } from '../store/registry-fixtures.ts';
import { USUAL } from '../support/attempts.ts';

const service = (change: Partial<Service> = {}): Service => ({
  id: 7,
  revision: 3,
  ...entry('shop'),
  ...change,
});

t.test('a service that is paused, unproved, a heartbeat or of other regions is not checked', async (t) => {
  const isChecked = (change: Partial<Service>) =>
    checkTargetOf(service(change), 'eu', NO_MEMORY, null) !== null;
  t.ok(isChecked({}));
  t.notOk(isChecked({ paused: true }));
  t.notOk(isChecked({ verified: false }));
  t.notOk(isChecked({ check: { ...DEFAULT_CHECK, kind: 'heartbeat' } }));
  t.notOk(isChecked({ check: { ...DEFAULT_CHECK, regions: ['us'] } }));
  t.ok(isChecked({ check: { ...DEFAULT_CHECK, regions: ['us', 'eu'] } }));
});

t.test('a target has what its check needs', async (t) => {
  t.same(checkTargetOf(service({ accountId: 5, origin: 'owner' }), 'eu', NO_MEMORY, 99), {
    ...{ serviceId: 7, revision: 3, domain: 'shop.com', origin: 'owner', accountId: 5 },
    ...{ check: DEFAULT_CHECK, memory: NO_MEMORY, lastCheckedAt: 99 },
  });
});

t.test('what is asked and what is good make a check; name, times and regions do not', async (t) => {
  const isSame = (change: Partial<Service>) => isSameCheck(service(), service(change));
  const withCheck = (change: object) => isSame({ check: { ...DEFAULT_CHECK, ...change } });
  t.ok(isSame({ name: 'Other', revision: 4, category: 'ai' }));
  t.ok(withCheck({}));
  t.ok(withCheck({ regions: ['eu'], intervalMs: 30_000, timeoutMs: 1_000 }));
  t.notOk(isSame({ domain: 'other.com' }));
  t.notOk(isSame({ origin: 'owner' }));
  for (const change of [
    { kind: 'http' },
    { url: 'https://shop.com/health' },
    { method: 'GET' },
    { caFile: '/ca.pem' },
    { settings: { port: 8443 } },
    { accept: ['2xx'] },
  ])
    t.notOk(withCheck(change), JSON.stringify(change));
});

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
