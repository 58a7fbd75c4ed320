/** How the verdicts of several regions make one status. */
import fc from 'fast-check';
import t from 'tap';
import type { Quorum } from '../../../src/domain/node.ts';
import { agree, failingRegions, responseTimeOf, votesNeeded } from '../../../src/domain/status/agree.ts';
import { type CurrentStatus, type RegionStatus, unknownStatus } from '../../../src/domain/status/current.ts';
import { latestCheckOf } from '../../../src/domain/status/judge.ts';
import type { Verdict } from '../../../src/domain/status.ts';
import { good } from '../../record/record-world.ts';
import { propertyRuns } from '../../support/property-runs.ts';

/** A region that votes, with a check at `at`. */
function vote(
  region: string,
  status: Verdict,
  at = 1_000,
  changes: Partial<RegionStatus> = {},
): RegionStatus {
  const check = latestCheckOf(good(1, at), status);
  return { region, check, since: at, observedAt: at, votes: true, ...changes };
}

/** Regions a, b, ... with the verdicts of a text: `u` up, `s` slow, `d` down. */
function votes(text: string): RegionStatus[] {
  const verdicts: Readonly<Record<string, Verdict>> = { u: 'up', s: 'slow', d: 'down' };
  return [...text].map((letter, index) =>
    vote('abcdefgh'[index] ?? '', verdicts[letter] ?? 'up', 1_000 + index),
  );
}

t.test('it needs more than half, one, all or a number of regions', async (t) => {
  for (const [quorum, needed] of [
    ['majority', [1, 1, 2, 2, 3, 3, 4]],
    ['any', [1, 1, 1, 1, 1, 1, 1]],
    ['all', [1, 1, 2, 3, 4, 5, 6]],
    [1, [1, 1, 1, 1, 1, 1, 1]],
    [3, [1, 1, 2, 3, 3, 3, 3]],
    [100, [1, 1, 2, 3, 4, 5, 6]],
  ] satisfies [Quorum, number[]][])
    t.same(
      needed.map((_, voters) => votesNeeded(quorum, voters)),
      needed,
      `${quorum} of 0 to 6 regions`,
    );
});

t.test('it makes one status of the verdicts', async (t) => {
  for (const [text, waiting, quorum, status] of [
    ['u', 0, 'majority', 'up'],
    ['s', 0, 'majority', 'slow'],
    ['d', 0, 'majority', 'down'],
    // Half is not more than half.
    ['ud', 0, 'majority', 'up'],
    ['dd', 0, 'majority', 'down'],
    ['uud', 0, 'majority', 'up'],
    ['udd', 0, 'majority', 'down'],
    ['ddd', 0, 'majority', 'down'],
    ['uudd', 0, 'majority', 'up'],
    ['uddd', 0, 'majority', 'down'],
    ['uud', 0, 'any', 'down'],
    ['udd', 0, 'all', 'up'],
    ['ddd', 0, 'all', 'down'],
    ['uud', 0, 2, 'up'],
    ['udd', 0, 2, 'down'],
    ['ud', 0, 3, 'up'],
    ['dd', 0, 3, 'down'],
    // A quorum that finds it slow or worse, but not down.
    ['uus', 0, 'majority', 'up'],
    ['uss', 0, 'majority', 'slow'],
    ['usd', 0, 'majority', 'slow'],
    ['sdd', 0, 'majority', 'down'],
    ['uus', 0, 'any', 'slow'],
    ['uss', 0, 'all', 'up'],
    ['ssd', 0, 'all', 'slow'],
    // Regions that have not checked it yet.
    ['u', 2, 'majority', 'up'],
    ['d', 2, 'majority', null],
    ['s', 2, 'majority', null],
    ['dd', 1, 'majority', 'down'],
    ['ud', 1, 'majority', 'up'],
    ['d', 2, 'any', 'down'],
    ['dd', 1, 'all', null],
    ['', 0, 'all', null],
    ['', 3, 'majority', null],
  ] satisfies [string, number, Quorum, Verdict | null][]) {
    const found = agree(votes(text), waiting, quorum);
    t.equal(found.status, status, `${text || 'nothing'}, ${waiting} waiting, ${quorum}`);
    t.equal(found.latest?.status ?? null, status, 'with a check that agrees');
  }
});

t.test('the latest check is the newest one that agrees', async (t) => {
  const all = [vote('a', 'down', 1_000), vote('b', 'down', 3_000), vote('c', 'up', 9_000)];
  t.match(agree(all, 0, 'majority'), { status: 'down', latest: { checkedAt: 3_000 } });
  t.match(agree(all, 0, 'all'), { status: 'up', latest: { checkedAt: 9_000 }, beganAt: 9_000 });
  const twins = [
    vote('b', 'up', 5, { check: latestCheckOf(good(1, 5, { statusCode: 204 }), 'up') }),
    vote('a', 'up', 5),
  ];
  t.match(agree(twins, 0, 'majority').latest, { statusCode: 200 }, 'of two at a time that of the first name');
});

t.test('down begins with the first failed attempt of any region that agrees', async (t) => {
  const all = [
    vote('a', 'down', 5_000, { since: 900 }),
    vote('b', 'down', 4_000, { since: 700 }),
    vote('c', 'up', 9_000, { since: 100 }),
  ];
  t.match(agree(all, 0, 'majority'), { status: 'down', beganAt: 700 });
});

t.test('the response time is the median of the good checks of voting regions', async (t) => {
  const inTime = (region: string, status: Verdict, responseTimeMs: number | null, isVoting = true) =>
    vote(region, status, 1_000, {
      check: latestCheckOf(good(1, 1_000, { responseTimeMs }), status),
      votes: isVoting,
    });
  for (const [name, regions, expected] of [
    ['odd', [inTime('a', 'up', 300), inTime('b', 'up', 20), inTime('c', 'slow', 4_000)], 300],
    ['even, rounded', [inTime('a', 'up', 21), inTime('b', 'up', 100)], 61],
    ['a failure does not count', [inTime('a', 'up', 80), inTime('b', 'down', 9_000)], 80],
    ['a region without a vote neither', [inTime('a', 'up', 80), inTime('b', 'up', 9_000, false)], 80],
    ['none is good: the latest check', [inTime('a', 'down', 9_000), inTime('b', 'down', null)], 7],
    ['one region', undefined, 7],
  ] satisfies [string, RegionStatus[] | undefined, number][]) {
    const latest = latestCheckOf(good(1, 1_000, { responseTimeMs: 7 }), 'up');
    const current: CurrentStatus = { ...unknownStatus(1), latest };
    t.equal(responseTimeOf(regions === undefined ? current : { ...current, regions }), expected, name);
  }
  t.equal(responseTimeOf(unknownStatus(1)), null);
});

t.test('it fails where voting regions fail', async (t) => {
  const regions = [
    vote('a', 'down'),
    vote('b', 'up'),
    vote('c', 'down', 1, { votes: false }),
    vote('d', 'down'),
  ];
  const names = failingRegions({ ...unknownStatus(1), regions }).map(({ region }) => region);
  t.same(names, ['a', 'd']);
  t.same(failingRegions(unknownStatus(1)), []);
});

const anyQuorum = fc.oneof(
  fc.constantFrom<Quorum>('majority', 'any', 'all'),
  fc.integer({ min: 1, max: 40 }),
);
const anyVotes = fc
  .array(fc.record({ verdict: fc.constantFrom<Verdict>('up', 'slow', 'down'), at: fc.nat(9_999) }), {
    maxLength: 12,
  })
  .map((list) => list.map(({ verdict, at }, index) => vote(`r${index}`, verdict, at)));

t.test('the order of the regions does not matter', async () => {
  const shuffled = anyVotes.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(shuffled, fc.nat(3), anyQuorum, ([list, other], waiting, quorum) => {
      const [a, b] = [agree(list, waiting, quorum), agree(other, waiting, quorum)];
      return JSON.stringify(a) === JSON.stringify(b);
    }),
    { numRuns: propertyRuns(300) },
  );
});

t.test('a region that gets worse makes no status better', async () => {
  const rank = { up: 0, slow: 1, down: 2 } as const;
  fc.assert(
    fc.property(anyVotes, fc.nat(11), anyQuorum, (list, place, quorum) => {
      const before = agree(list, 0, quorum).status;
      const worse = list.map((one, index) => (index === place ? vote(one.region, 'down', 1) : one));
      const after = agree(worse, 0, quorum).status;
      return before === null ? after === null : after !== null && rank[after] >= rank[before];
    }),
    { numRuns: propertyRuns(300) },
  );
});

t.test('a region that must be waited for never makes it worse', async () => {
  const rank = { up: 0, slow: 1, down: 2 } as const;
  fc.assert(
    fc.property(anyVotes, fc.nat(5), anyQuorum, (list, waiting, quorum) => {
      const { status } = agree(list, 0, quorum);
      const { status: withWaiting } = agree(list, waiting, quorum);
      return withWaiting === null || (status !== null && rank[withWaiting] <= rank[status]);
    }),
    { numRuns: propertyRuns(300) },
  );
});
