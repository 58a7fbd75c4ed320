/** A service that is down by itself, or behind another one: by one step after the other. */
import t from 'tap';
import {
  type Ancestor,
  beginReach,
  isReached,
  isWithin,
  lookAtOf,
  nextReach,
  type Reach,
  SETTLE_MS,
  waitEndOf,
} from '../../../src/domain/status/reach.ts';

const NOW = 10_000_000;
const MINUTE = 60_000;
const ROUTER: Ancestor = {
  ...{
    id: 1,
    status: 'up',
    isPaused: false,
    isStale: false,
    isProbed: true,
    checkedAt: NOW - 1_000,
    lastOutage: null,
  },
};
const DOWN: Ancestor = { ...ROUTER, status: 'down' };
const shop = (checkedAt: number | null = NOW) => ({ id: 9, checkedAt });
const reach = (phase: Reach['phase'], since = NOW, more: Partial<Reach> = {}): Reach => ({
  ...{ phase, since, ancestors: [1] },
  ...more,
});

t.test(
  'it begins behind what is down, settling after what has just recovered, and else by asking',
  async (t) => {
    t.match(beginReach([ROUTER, { ...DOWN, id: 2 }], NOW, NOW), {
      reach: { phase: 'behind', ancestors: [1, 2] },
      asks: [],
    });
    const recovered = { ...ROUTER, lastOutage: { from: NOW - 9 * MINUTE, to: NOW - MINUTE } };
    t.match(beginReach([recovered], NOW, NOW), {
      reach: { phase: 'settling', since: NOW - MINUTE },
      asks: [],
    });
    t.match(beginReach([ROUTER], NOW, NOW), { reach: { phase: 'asking', since: NOW }, asks: [1] });
    const long = { ...ROUTER, lastOutage: { from: NOW - 60 * MINUTE, to: NOW - 30 * MINUTE } };
    t.match(beginReach([long], NOW, NOW), { reach: { phase: 'asking' } }, 'an outage that was over before');
  },
);

t.test('who cannot be asked says nothing, and is not waited for', async (t) => {
  for (const mute of [{ isProbed: false }, { isPaused: true }, { status: 'unknown' as const }])
    t.match(beginReach([{ ...ROUTER, ...mute }], NOW, NOW), { reach: { phase: 'open' }, asks: [] });
  const old = { isPaused: true, status: 'down' as const };
  t.match(beginReach([{ ...ROUTER, ...old }], NOW, NOW), { reach: { phase: 'open' } }, 'nor is it the cause');
  t.same(
    [
      ROUTER,
      DOWN,
      { ...DOWN, isStale: true },
      { ...DOWN, isPaused: true },
      { ...ROUTER, status: 'unknown' as const },
    ].map(isReached),
    [true, false, null, null, null],
  );
});

t.test(
  'asking ends with the answers, or after 45 s: down by itself, unless what was asked is down',
  async (t) => {
    const asking = reach('asking');
    const step = (ancestors: readonly Ancestor[], now = NOW + 5_000) =>
      nextReach(shop(), ancestors, asking, now).reach;
    t.equal(step([ROUTER]), asking, 'not asked yet');
    t.equal(step([{ ...ROUTER, checkedAt: NOW }]).phase, 'open');
    t.equal(step([{ ...DOWN, checkedAt: NOW }]).phase, 'behind');
    t.equal(step([ROUTER], NOW + 45_000).phase, 'open', 'no answer came');
    const over = { from: NOW - MINUTE, to: NOW + 2_000 };
    t.match(step([{ ...ROUTER, checkedAt: NOW, lastOutage: over }]), { phase: 'settling', since: over.to });
  },
);

t.test(
  'behind a cause it waits; when that recovers it is checked, and is down by itself two minutes later',
  async (t) => {
    const behind = reach('behind', NOW - 60 * MINUTE);
    t.equal(nextReach(shop(), [DOWN], behind, NOW).reach, behind);
    const settling = nextReach(shop(), [ROUTER], behind, NOW);
    t.match(settling, { reach: { phase: 'settling', since: NOW, settlesSince: NOW }, asks: [9] });
    t.same(nextReach(shop(), [ROUTER], settling.reach, NOW + SETTLE_MS - 1), {
      reach: settling.reach,
      asks: [],
    });
    t.same(nextReach(shop(), [ROUTER], settling.reach, NOW + SETTLE_MS).asks, [9], 'its next check decides');
    const after = NOW + SETTLE_MS;
    t.match(nextReach(shop(after), [ROUTER], settling.reach, after), {
      reach: { phase: 'asking', since: after },
      asks: [1],
    });
    t.equal(nextReach(shop(), [DOWN], settling.reach, NOW + 1).reach.phase, 'behind', 'down again');
    t.equal(
      nextReach(shop(), [ROUTER], settling.reach, waitEndOf(settling.reach)).reach.phase,
      'open',
      'no check came',
    );
  },
);

t.test(
  'where the cause flaps, it is down by itself after half an hour, by a check while the cause is up',
  async (t) => {
    const since = NOW - MINUTE;
    const flapping = reach('settling', since, { settlesSince: NOW - 30 * MINUTE });
    t.equal(nextReach(shop(since + 1), [DOWN], flapping, NOW).reach.phase, 'open');
    t.equal(nextReach(shop(since), [ROUTER], flapping, NOW).reach, flapping, 'no check since');
    const open = reach('open', NOW, { settlesSince: NOW - 31 * MINUTE });
    t.equal(nextReach(shop(), [DOWN], open, NOW).reach, open, 'and stays so');
    t.equal(nextReach(shop(), [DOWN], reach('open'), NOW).reach.phase, 'behind', 'but not without flapping');
  },
);

t.test('it is looked at again when something can have changed', async (t) => {
  t.equal(lookAtOf(reach('asking'), NOW), NOW + 1_000);
  t.equal(lookAtOf(reach('settling'), NOW), NOW + SETTLE_MS);
  t.equal(lookAtOf(reach('settling', NOW - SETTLE_MS), NOW), NOW + 5_000);
  t.equal(lookAtOf(reach('behind'), NOW), NOW + MINUTE);
  for (const phase of ['open', 'over'] as const)
    t.equal(lookAtOf(reach(phase), NOW), Number.POSITIVE_INFINITY);
});

t.test(
  'a failure is within an outage that began soon after, or has ended two minutes before at most',
  async (t) => {
    const outage = { from: NOW, to: NOW + MINUTE };
    t.same(
      [-45_001, -45_000, MINUTE + SETTLE_MS, MINUTE + SETTLE_MS + 1].map((ms) => isWithin(outage, NOW + ms)),
      [false, true, true, false],
    );
  },
);
