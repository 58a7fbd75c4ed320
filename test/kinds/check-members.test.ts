/** Times and regions that a check has of its own: how they are read and written, and their bounds. */
import fc from 'fast-check';
import t from 'tap';
import type { CheckChoice } from '../../src/domain/check-target.ts';
import { describeMemberProblem } from '../../src/domain/input-problem.ts';
import {
  changeMembers,
  type MemberTexts,
  memberTexts,
  operatorLimits,
  ownerLimits,
  parseMembers,
  refuseMembers,
  writeMembers,
} from '../../src/kinds/check-members.ts';
import { USUAL } from '../support/attempts.ts';
import { propertyRuns } from '../support/property-runs.ts';

const OWNER = ownerLimits(USUAL, 30_000, ['ap', 'eu']);
const OPERATOR = operatorLimits(USUAL);

t.test('it reads members from texts, and keeps those that are not named', async (t) => {
  const before = { intervalMs: 60_000, regions: ['eu'] };
  const cases: readonly (readonly [MemberTexts, CheckChoice | string])[] = [
    [{}, before],
    [{ interval: '2m' }, { ...before, intervalMs: 120_000 }],
    [{ interval: null }, { regions: ['eu'] }],
    [{ interval: ' ' }, { regions: ['eu'] }],
    [
      { timeout: '1.5s', slowOver: '250ms' },
      { ...before, timeoutMs: 1_500, slowOverMs: 250 },
    ],
    [{ confirmAfter: ' 2s, 4s ' }, { ...before, confirmAfterMs: [2_000, 4_000] }],
    [{ confirmAfter: 'none' }, { ...before, confirmAfterMs: [] }],
    [{ regions: 'us eu,us' }, { ...before, regions: ['us', 'eu'] }],
    [{ interval: '2 minutes', confirmAfter: '2s x' }, 'interval confirmAfter'],
    [{ regions: 'Europe' }, 'regions'],
  ];
  for (const [texts, expected] of cases) {
    const reading = changeMembers(before, texts);
    const found =
      reading.wrong.length === 0 ? reading.choice : reading.wrong.map(({ member }) => member).join(' ');
    t.strictSame(found, expected, JSON.stringify(texts));
  }
});

t.test('it refuses members out of their bounds, owners more than the operator', async (t) => {
  const cases: readonly (readonly [CheckChoice, owner: string, operator: string])[] = [
    [{}, '', ''],
    [{ intervalMs: 30_000 }, '', ''],
    [{ intervalMs: 86_400_000 }, '', ''],
    [{ intervalMs: 29_999 }, 'interval must be at least 30s', ''],
    [{ intervalMs: 999 }, 'interval must be at least 30s', 'interval must be at least 1s'],
    [{ intervalMs: 86_400_001 }, 'interval must be at most 1d', 'interval must be at most 1d'],
    [{ timeoutMs: 60_000 }, '', ''],
    [
      { timeoutMs: 60_001 },
      'timeout must be at most 1m',
      'timeout must not be longer than the interval, which is 1m',
    ],
    [{ intervalMs: 3_600_000, timeoutMs: 600_000 }, 'timeout must be at most 1m', ''],
    [{ timeoutMs: 9 }, 'timeout must be at least 10ms', 'timeout must be at least 10ms'],
    [{ slowOverMs: 8_000 }, '', ''],
    [
      { slowOverMs: 8_001 },
      'slowOver must not be longer than the timeout, which is 8s',
      'slowOver must not be longer than the timeout, which is 8s',
    ],
    [{ slowOverMs: 9_000, timeoutMs: 9_000 }, '', ''],
    [{ confirmAfterMs: [] }, '', ''],
    [{ confirmAfterMs: Array(10).fill(600_000) }, '', ''],
    [
      { confirmAfterMs: Array(11).fill(1_000) },
      'confirmAfter has at most 10 parts',
      'confirmAfter has at most 10 parts',
    ],
    [{ confirmAfterMs: [999] }, 'confirmAfter must be at least 1s', ''],
    [{ regions: ['eu', 'ap'] }, '', ''],
    [{ regions: ['eu', 'us'] }, 'regions names us, where no node makes checks: choose from ap, eu', ''],
    [
      { intervalMs: 10, timeoutMs: 9_000 },
      'interval must be at least 30s, timeout must not be longer than the interval, which is 10ms',
      'interval must be at least 1s, timeout must not be longer than the interval, which is 10ms',
    ],
  ];
  for (const [choice, owner, operator] of cases) {
    const describe = (limits: typeof OWNER) =>
      refuseMembers(choice, limits)
        .map(({ member, problem }) => `${member} ${describeMemberProblem(member, problem)}`)
        .join(', ');
    t.same([describe(OWNER), describe(OPERATOR)], [owner, operator], JSON.stringify(choice));
  }
});

t.test('it does not judge again what an owner leaves as it is', async (t) => {
  const before = { intervalMs: 5_000, confirmAfterMs: [1], regions: ['us'] };
  t.same(refuseMembers(before, OWNER, before), []);
  t.same(refuseMembers({ ...before, regions: ['us', 'eu'] }, OWNER, before), []);
  t.match(refuseMembers({ ...before, timeoutMs: 6_000 }, OWNER, before), [
    { member: 'timeout', problem: { code: 'over_interval', limitMs: 5_000 } },
  ]);
  t.match(refuseMembers({ ...before, intervalMs: 6_000 }, OWNER, before), [{ member: 'interval' }]);
});

t.test('it reads back what it writes, as a document and as texts', async (t) => {
  const ms = fc.integer({ min: 1, max: 86_400_000 });
  const choices = fc.record(
    {
      intervalMs: ms,
      timeoutMs: ms,
      slowOverMs: ms,
      confirmAfterMs: fc.array(ms, { maxLength: 10 }),
      regions: fc.uniqueArray(fc.constantFrom('ap', 'eu', 'us-1'), { minLength: 1 }),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(choices, (choice) => {
      t.strictSame(parseMembers(writeMembers(choice)), choice);
      t.strictSame(changeMembers({}, memberTexts(choice)), { choice, wrong: [] });
    }),
    { numRuns: propertyRuns(30) },
  );
});
