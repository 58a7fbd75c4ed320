/** How checks in several regions change the current status of a service. */
import fc from 'fast-check';
import t from 'tap';
import type { Quorum } from '../../../src/domain/node.ts';
import { type CurrentStatus, unknownStatus } from '../../../src/domain/status/current.ts';
import {
  nextRegionalStatus,
  type RegionalCheck,
  type RegionRules,
  regionsToAsk,
} from '../../../src/domain/status/regional-status.ts';
import { nextStatus, scopeOf, transitionBetween } from '../../../src/domain/status/transition.ts';
import type { Verdict } from '../../../src/domain/status.ts';
import { failed503, good, makeService } from '../../record/record-world.ts';
import { propertyRuns } from '../../support/property-runs.ts';

const RULES: RegionRules = { quorum: 'majority', freshMs: 150_000, among: null };
const ALL = ['ap', 'eu', 'us'];
const LATER = 10_000_000;

/** A check in `region` that ended at `at`; a failed one began to fail 6 s before. */
function checkIn(
  region: string,
  verdict: Verdict,
  at: number,
  voting: readonly string[] = ALL,
): RegionalCheck {
  const responseTimeMs = verdict === 'slow' ? 4_000 : 120;
  const result = verdict === 'down' ? failed503(1, at) : good(1, at, { responseTimeMs });
  return { region, result, verdict, voting };
}

/** The status after checks, one after the other; old ones change nothing. */
function play(
  checks: readonly RegionalCheck[],
  start = unknownStatus(1),
  rules: RegionRules = RULES,
): CurrentStatus {
  return checks.reduce(
    (current, check) => nextRegionalStatus(current, check, LATER, rules) ?? current,
    start,
  );
}

/** What a reader sees: status, scope, and each region with its verdict, in brackets without a vote. */
function sight(current: CurrentStatus): string {
  const regions = current.regions?.map(({ region, check, votes }) =>
    votes ? `${region} ${check.status}` : `(${region} ${check.status})`,
  );
  return `${current.seq} ${current.status} ${scopeOf(current)}: ${regions?.join(', ') ?? 'one region'}`;
}

const UP = play(ALL.map((region) => checkIn(region, 'up', 1_000_000)));

t.test('it goes from up to partial to down and back', async (t) => {
  t.equal(sight(UP), '1 up null: ap up, eu up, us up');
  const partial = play([checkIn('eu', 'down', 1_020_000)], UP);
  t.equal(sight(partial), '2 up partial: ap up, eu down, us up');
  t.match(partial, { since: UP.since, latest: { status: 'up', checkedAt: 1_000_000 } });
  const down = play([checkIn('us', 'down', 1_023_000)], partial);
  t.equal(sight(down), '3 down global: ap up, eu down, us down');
  t.match(down, { since: 1_014_000, latest: { checkedAt: 1_023_000 }, observedAt: 1_023_000 });
  const again = play([checkIn('us', 'up', 1_060_000)], down);
  t.equal(sight(again), '4 up partial: ap up, eu down, us up');
  t.match(again, { since: 1_060_000, latest: { status: 'up', checkedAt: 1_060_000 } });
  t.equal(sight(play([checkIn('eu', 'up', 1_080_000)], again)), '5 up null: ap up, eu up, us up');
});

t.test('regions from which a service is no longer checked count no more', async (t) => {
  const among = ['eu', 'us'];
  const rules = { ...RULES, among };
  const partial = play([checkIn('ap', 'down', 1_020_000)], UP);
  const left = play([checkIn('eu', 'up', 1_030_000, among)], partial, rules);
  t.equal(sight(left), '3 up null: eu up, us up');
  const down = play(
    [checkIn('us', 'down', 1_040_000, among), checkIn('eu', 'down', 1_041_000, among)],
    left,
    rules,
  );
  t.equal(sight(down), '5 down global: eu down, us down', 'the quorum is that of its regions');
  const alone = play([checkIn('eu', 'up', 1_050_000, ['eu'])], down, { ...RULES, among: ['eu'] });
  t.equal(sight(alone), '6 up null: one region');
});

t.test('`down` begins with the first failed attempt of any region that agrees', async (t) => {
  const first = checkIn('eu', 'down', 1_020_000);
  const slower = {
    ...checkIn('us', 'down', 1_024_000),
    result: failed503(1, 1_024_000, { firstFailedAt: 1_001_000 }),
  };
  t.match(play([first, slower], UP), { status: 'down', since: 1_001_000 });
  t.match(play([slower, first], UP), { status: 'down', since: 1_001_000 });
  const before = { ...slower, result: failed503(1, 1_024_000, { firstFailedAt: 900_000 }) };
  t.match(play([before, first], UP), { since: UP.since }, 'but not before the status before it');
});

t.test(
  'after a time without checks, a failure in one region is new, and does not decide alone',
  async (t) => {
    const partial = play([checkIn('eu', 'down', 1_020_000)], UP);
    const laterAt = 1_020_000 + RULES.freshMs + 60_000;
    const first = play([checkIn('eu', 'down', laterAt)], partial);
    t.equal(sight(first), '2 up partial: (ap up), eu down, (us up)');
    t.equal(
      sight(play([checkIn('us', 'up', laterAt + 1_000)], first)),
      '2 up partial: (ap up), eu down, us up',
    );
    const down = play([checkIn('us', 'down', laterAt + 1_000)], first);
    t.match(down, { status: 'down', since: laterAt - 6_000 });
  },
);

t.test('it numbers and dates each change of status or scope', async (t) => {
  const service = makeService(1);
  let current = UP;
  const seen = [
    checkIn('eu', 'down', 1_020_000),
    checkIn('eu', 'down', 1_080_000),
    checkIn('us', 'down', 1_081_000),
    checkIn('ap', 'down', 1_082_000),
    checkIn('us', 'up', 1_140_000),
    checkIn('eu', 'up', 1_141_000),
    checkIn('ap', 'up', 1_142_000),
  ].flatMap((check) => {
    const next = play([check], current);
    const transition = transitionBetween(service, current, next, { recordedAt: LATER, reason: null });
    current = next;
    return transition === null ? [] : [transition];
  });
  t.same(
    seen.map(({ seq, from, to, at, scope }) => [seq, `${from} to ${to}`, at, scope]),
    [
      [2, 'up to up', 1_014_000, { from: null, to: 'partial', regions: ['eu'] }],
      [3, 'up to down', 1_014_000, { from: 'partial', to: 'global', regions: ['eu', 'us'] }],
      [4, 'down to up', 1_141_000, { from: 'global', to: 'partial', regions: ['ap'] }],
      [5, 'up to up', 1_142_000, { from: 'partial', to: null, regions: [] }],
    ],
  );
});

t.test('without regions a transition has no scope', async (t) => {
  const down = play([checkIn('eu', 'down', 5_000, ['eu'])]);
  const transition = transitionBetween(makeService(1), unknownStatus(1), down, {
    recordedAt: LATER,
    reason: null,
  });
  t.notOk(Object.hasOwn(transition ?? {}, 'scope'));
});

t.test('a region without a vote is listed and changes nothing else', async (t) => {
  const two = ['ap', 'us'];
  const offline = checkIn('eu', 'down', 1_020_000, two);
  t.equal(sight(play([offline], UP)), '1 up null: ap up, (eu down), us up');
  const next = play([offline, checkIn('ap', 'down', 1_021_000, two)], UP);
  t.equal(
    sight(next),
    '2 up partial: ap down, (eu down), us up',
    'two of three, but only one of those that vote',
  );
  t.equal(
    sight(play([checkIn('us', 'down', 1_022_000, two)], next)),
    '3 down global: ap down, (eu down), us down',
  );
});

t.test('a region that loses its vote takes its verdict back', async (t) => {
  const down = play([checkIn('eu', 'down', 1_020_000), checkIn('us', 'down', 1_021_000)], UP);
  const next = play([checkIn('ap', 'up', 1_040_000, ['ap', 'us'])], down);
  t.equal(sight(next), '4 up partial: ap up, (eu down), us down');
});

t.test('while it is not known who votes, every fresh region does', async (t) => {
  const partial = play([checkIn('eu', 'down', 1_020_000, [])], UP);
  t.equal(sight(partial), '2 up partial: ap up, eu down, us up');
  const left = play([checkIn('eu', 'down', 1_200_000, [])], partial);
  t.equal(sight(left), '3 down global: one region', 'the others have not checked it for too long');
});

t.test('a region that has not checked the service yet sees no failure', async (t) => {
  const first = play([checkIn('eu', 'down', 1_000_000)]);
  t.equal(sight(first), '0 unknown null: eu down');
  t.equal(sight(play([checkIn('us', 'up', 1_001_000)], first)), '1 up partial: eu down, us up');
  t.equal(sight(play([checkIn('us', 'down', 1_001_000)], first)), '1 down global: eu down, us down');
});

t.test('it is not waited for longer than a check counts', async (t) => {
  const two = ['eu', 'us'];
  const failing = [0, 60_000, 120_000, 140_000].map((after) => checkIn('eu', 'down', 1_000_000 + after, two));
  t.equal(sight(play(failing)), '0 unknown null: eu down');
  const late = checkIn('eu', 'down', 1_150_000, two);
  t.equal(sight(play([...failing, late])), '1 down global: eu down', 'since 156 s');
});

t.test('an old verdict of a voting region does not count', async (t) => {
  const two = ['eu', 'us'];
  const both = play([checkIn('eu', 'up', 1_000_000, two), checkIn('us', 'up', 1_000_000, two)]);
  const resumed = play([checkIn('us', 'down', 9_000_000, two)], both);
  t.equal(sight(resumed), '2 up partial: (eu up), us down', 'hours later eu has not said anything yet');
  t.equal(sight(play([checkIn('eu', 'down', 9_004_000, two)], resumed)), '3 down global: eu down, us down');
});

t.test('a region that left is no longer listed once its check is old', async (t) => {
  const two = ['ap', 'eu'];
  const soon = play([checkIn('ap', 'up', 1_150_000, two), checkIn('eu', 'up', 1_150_000, two)], UP);
  t.equal(sight(soon), '1 up null: ap up, eu up, (us up)');
  const later = play([checkIn('ap', 'up', 1_150_001, two)], soon);
  t.equal(sight(later), '1 up null: ap up, eu up');
});

t.test('a renamed region goes on under its new name', async (t) => {
  const one = play([checkIn('eu', 'down', 1_000_000, ['eu'])]);
  t.equal(sight(one), '1 down global: one region');
  const next = play([checkIn('europe', 'down', 1_060_000, ['europe'])], one);
  t.equal(sight(next), '1 down global: one region');
  t.equal(next.since, one.since);
});

t.test('the last region alone ends the scope, numbered', async (t) => {
  const two = ['eu', 'us'];
  const partial = play([
    checkIn('eu', 'up', 1_000_000, two),
    checkIn('us', 'up', 1_000_000, two),
    checkIn('us', 'down', 1_060_000, two),
  ]);
  t.equal(sight(partial), '2 up partial: eu up, us down');
  const alone = play([checkIn('eu', 'up', 1_220_000, ['eu'])], partial);
  t.equal(sight(alone), '3 up null: one region');
  t.notOk(Object.hasOwn(alone, 'scope'));
  t.match(transitionBetween(makeService(1), partial, alone, { recordedAt: LATER, reason: null }), {
    from: 'up',
    to: 'up',
    at: 1_220_000,
    scope: { from: 'partial', to: null, regions: [] },
  });
});

t.test('a check that was delivered before changes nothing', async (t) => {
  const checks = [checkIn('ap', 'up', 1_000_000), checkIn('eu', 'down', 1_002_000)];
  const current = play(checks);
  for (const check of checks) t.equal(nextRegionalStatus(current, check, LATER, RULES), null);
  const older = checkIn('eu', 'up', 1_001_000);
  t.equal(nextRegionalStatus(current, older, LATER, RULES), null, 'nor one that was overtaken');
  t.not(nextRegionalStatus(current, older, 1_001_500, RULES), null, 'unless the clock was set back');
  t.equal(nextRegionalStatus(current, checks[1] ?? older, 1_001_500, RULES), null);
  const alone = play([checkIn('ap', 'down', 1_000_000, ['ap'])]);
  t.equal(
    nextRegionalStatus(alone, checkIn('ap', 'up', 999_000), LATER, RULES),
    null,
    'from before the others',
  );
});

t.test('it asks the regions that have not confirmed a new failure', async (t) => {
  const partial = play([checkIn('eu', 'down', 1_020_000)], UP);
  for (const [name, before, check, asked] of [
    ['a good check', UP, checkIn('eu', 'up', 1_020_000), []],
    ['a new failure', UP, checkIn('eu', 'down', 1_020_000), ['ap', 'us']],
    ['the same failure', partial, checkIn('eu', 'down', 1_080_000), []],
    ['a failure that completes the quorum', partial, checkIn('us', 'down', 1_080_000), []],
    ['without a vote', UP, checkIn('eu', 'down', 1_020_000, ['ap', 'us']), []],
    ['a region that waits', unknownStatus(1), checkIn('eu', 'down', 1_020_000), ['ap', 'us']],
    ['one region', unknownStatus(1), checkIn('eu', 'down', 1_020_000, ['eu']), []],
  ] satisfies [string, CurrentStatus, RegionalCheck, string[]][])
    t.same(regionsToAsk(before, play([check], before), check), asked, name);
});

const anyVerdict = fc.constantFrom<Verdict>('up', 'slow', 'down');

t.test('one region is as it is without regions, byte for byte', async () => {
  const history = fc.array(
    fc.record({ verdict: anyVerdict, at: fc.integer({ min: 0, max: 900_000 }), now: fc.nat(900_000) }),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(history, fc.constantFrom([], ['eu']), (list, voting) => {
      let [plain, regional] = [unknownStatus(1), unknownStatus(1)];
      for (const { verdict, at, now } of list) {
        const check = checkIn('eu', verdict, at, voting);
        const next = nextStatus(plain, check.result, verdict, now);
        const other = nextRegionalStatus(regional, check, now, RULES);
        // Where the clock was set back, a check at the very time of the newest one was delivered before.
        if (at === plain.observedAt) continue;
        if (JSON.stringify(next) !== JSON.stringify(other)) throw new Error(JSON.stringify([next, other]));
        plain = next ?? plain;
        regional = other ?? regional;
      }
    }),
    { numRuns: propertyRuns(200) },
  );
});

/** Checks of regions within two minutes, each region's in order. */
const anyChecks = fc
  .array(fc.record({ region: fc.constantFrom(...ALL), verdict: anyVerdict, at: fc.nat(120) }), {
    maxLength: 24,
  })
  .map((list) =>
    list
      .map(({ region, verdict, at }) => checkIn(region, verdict, 1_001_000 + at * 1_000))
      .sort((a, b) => a.result.endedAt - b.result.endedAt),
  );

/** The same checks with those of different regions in another order. */
function interleave(checks: readonly RegionalCheck[], picks: readonly number[]): RegionalCheck[] {
  const queues = ALL.map((name) => checks.filter(({ region }) => region === name));
  const order: RegionalCheck[] = [];
  for (let turn = 0; order.length < checks.length; turn++) {
    const left = queues.filter((queue) => queue.length > 0);
    order.push(...(left[(picks[turn] ?? 0) % left.length]?.splice(0, 1) ?? []));
  }
  return order;
}

const anyQuorum = fc.oneof(fc.constantFrom<Quorum>('majority', 'any', 'all'), fc.integer({ min: 1, max: 5 }));

t.test('the order in which regions arrive does not matter for the verdict', async () => {
  fc.assert(
    fc.property(anyChecks, fc.array(fc.nat(5), { maxLength: 24 }), anyQuorum, (checks, picks, quorum) => {
      const rules = { ...RULES, quorum };
      const [a, b] = [play(checks, UP, rules), play(interleave(checks, picks), UP, rules)];
      const of = ({ status, scope, latest, regions }: CurrentStatus) =>
        JSON.stringify({ status, scope, latest, regions: regions?.map((one) => ({ ...one, since: 0 })) });
      if (of(a) !== of(b)) throw new Error(`${sight(a)} / ${sight(b)}`);
    }),
    { numRuns: propertyRuns(300) },
  );
});

t.test('a region without a vote changes nothing of the rest', async () => {
  const voting = ['ap', 'us'];
  fc.assert(
    fc.property(anyChecks, anyQuorum, (checks, quorum) => {
      const rules = { ...RULES, quorum };
      const all = checks.map((check) => ({ ...check, voting }));
      const start = play([checkIn('ap', 'up', 1_000_000, voting), checkIn('us', 'up', 1_000_000, voting)]);
      const a = play(all, start, rules);
      const b = play(
        all.filter(({ region }) => region !== 'eu'),
        start,
        rules,
      );
      const of = ({ seq, status, scope, since, latest }: CurrentStatus) =>
        JSON.stringify({ seq, status, scope, since, latest });
      if (of(a) !== of(b)) throw new Error(`${sight(a)} / ${sight(b)}`);
    }),
    { numRuns: propertyRuns(300) },
  );
});

t.test('numbers grow by one with each change, and what is global is down', async () => {
  fc.assert(
    fc.property(anyChecks, anyQuorum, (checks, quorum) => {
      let current = UP;
      for (const check of checks) {
        const next = nextRegionalStatus(current, check, LATER, { ...RULES, quorum });
        if (next === null) continue;
        const isChanged = next.status !== current.status || scopeOf(next) !== scopeOf(current);
        if (next.seq !== current.seq + (isChanged ? 1 : 0)) throw new Error('seq');
        if (next.observedAt <= current.observedAt) throw new Error('observedAt');
        if ((next.scope === 'global') !== (next.status === 'down')) throw new Error('scope');
        if (next.latest?.status !== next.status) throw new Error('the latest check disagrees');
        if ((next.since ?? 0) < (current.since ?? 0)) throw new Error('since');
        current = next;
      }
    }),
    { numRuns: propertyRuns(300) },
  );
});
