import fc from 'fast-check';
import t from 'tap';
import type { Attempt } from '../../../src/domain/result.ts';
import { phaseOf } from '../../../src/engine/host/phase.ts';
import {
  createProbeHandler,
  idleProbe,
  type ProbeEffect,
  type ProbeState,
} from '../../../src/engine/host/probe-actor.ts';
import { goodAttempt, USUAL } from '../../support/attempts.ts';
import { refusedAttempt, targetOf, timedOutAttempt } from '../attempt.ts';

const INTERVAL = 300_000;
const handle = createProbeHandler({ ...USUAL, intervalMs: INTERVAL });
const target = targetOf(7);
const NOW = 1_800_000_000_000;
/** Wall time minus monotonic time. */
const OFFSET = NOW - 5_000_000;

/** The actor after its check has begun. */
function begun(at: ProbeState = idleProbe(target)): ProbeState {
  return handle(at, { type: 'due' }).state;
}

/** Tells an actor how the attempt that it waits for has ended. */
function answer(state: ProbeState, now: number, attempt: Attempt, spoilt = false, clockOffset = OFFSET) {
  return handle(state, {
    type: 'attempted',
    target: state.check?.target ?? target,
    attempt,
    spoilt,
    now,
    clockOffset,
    loopDelayMs: 3,
  });
}

/** Plays attempts that end at these times; returns the effects of each and the last state. */
function play(
  attempts: readonly (readonly [endedAt: number, attempt: Attempt, spoilt?: boolean])[],
  from = begun(),
) {
  let state = from;
  const effects: ProbeEffect[][] = [];
  for (const [now, attempt, spoilt] of attempts) {
    const step = answer(state, now, attempt, spoilt);
    effects.push([...step.effects]);
    state = step.state.check === null ? step.state : begun(step.state);
  }
  return { state, effects };
}

const resultOf = (effects: readonly ProbeEffect[]) =>
  effects.flatMap((e) => (e.type === 'report' ? [e.result] : []))[0];

t.test('it reports a good attempt at once and waits for its phase', async (t) => {
  const { effects, state } = play([[NOW + 12, goodAttempt({ startedAt: NOW })]]);
  t.match(effects[0], [
    {
      type: 'report',
      result: {
        serviceId: 7,
        revision: 1,
        attempts: 1,
        firstFailedAt: null,
        startedAt: NOW,
        endedAt: NOW + 12,
        loopDelayMs: 3,
      },
    },
    { type: 'wake' },
  ]);
  const wake = effects[0]?.find((effect) => effect.type === 'wake');
  t.equal((wake?.at ?? 0) % INTERVAL, phaseOf(7, INTERVAL));
  t.same(state, idleProbe(target), 'nothing was learnt');
});

t.test(
  'it confirms a failure 2 s and 4 s after the failure before, and reports the last attempt',
  async (t) => {
    const { effects } = play([
      [NOW + 50, refusedAttempt({ startedAt: NOW })],
      [NOW + 2_100, refusedAttempt({ startedAt: NOW + 2_050 })],
      [NOW + 6_150, refusedAttempt({ startedAt: NOW + 6_100 })],
    ]);
    t.same(effects[0], [
      { type: 'wake', at: NOW + 2_050 },
      { type: 'doubt', failedAt: NOW },
    ]);
    t.match(effects[1]?.[0], { type: 'wake', at: NOW + 6_100 });
    t.match(resultOf(effects[2] ?? []), {
      attempts: 3,
      firstFailedAt: NOW,
      startedAt: NOW + 6_100,
      endedAt: NOW + 6_150,
    });
  },
);

t.test(
  'it is content with a good attempt among the re-checks, and keeps the first failure in the record',
  async (t) => {
    const { effects } = play([
      [
        NOW + 50,
        goodAttempt({
          statusCode: 503,
          failure: { class: 'status', phase: 'first_byte', cause: { code: 'text', text: '503' } },
          startedAt: NOW,
        }),
      ],
      [NOW + 2_100, goodAttempt({ startedAt: NOW + 2_050 })],
    ]);
    t.same(effects[0], [{ type: 'wake', at: NOW + 2_050 }], 'an answer raises no doubt about the prober');
    t.match(resultOf(effects[1] ?? []), { attempts: 2, failure: null, firstFailedAt: NOW });
  },
);

t.test('it does not confirm what is blocked, and waits as a 429 asks', async (t) => {
  const { effects } = play([
    [NOW + 9, goodAttempt({ statusCode: 429, blocked: true, retryAfterMs: 3_600_000, startedAt: NOW })],
  ]);
  t.equal(resultOf(effects[0] ?? [])?.blocked, true);
  const wake = effects[0]?.find((effect) => effect.type === 'wake');
  t.ok((wake?.at ?? 0) >= NOW + 3_600_000 && (wake?.at ?? 0) <= NOW + 3_600_000 + INTERVAL);
});

t.test('it confirms a body that reports down', async (t) => {
  const { effects } = play([[NOW + 9, goodAttempt({ reported: 'down', startedAt: NOW })]]);
  t.same(effects[0], [{ type: 'wake', at: NOW + 2_009 }]);
});

t.test('a check with a failed attempt by an own fault is suspect', async (t) => {
  const { effects } = play([
    [NOW + 50, refusedAttempt({ startedAt: NOW, suspect: 'own_fault' })],
    [NOW + 2_100, refusedAttempt({ startedAt: NOW + 2_050 })],
    [NOW + 6_150, refusedAttempt({ startedAt: NOW + 6_100 })],
  ]);
  t.equal(resultOf(effects[2] ?? [])?.suspect, 'own_fault');
});

t.test('a failure starts at the first attempt that HEAD itself cannot explain', async (t) => {
  const silence = { startedAt: NOW, headUnproven: true };
  const [refused, silent] = [refusedAttempt, timedOutAttempt].map((make) =>
    make({ startedAt: NOW + 12_000 }),
  );
  if (refused === undefined || silent === undefined) throw new Error('no attempts');
  for (const [name, first, second, firstFailedAt] of [
    ['another failure after a HEAD that may hang', timedOutAttempt(silence), refused, NOW + 12_000],
    ['the same silence after it', timedOutAttempt(silence), silent, NOW],
    ['a HEAD that was answered before', timedOutAttempt({ startedAt: NOW }), refused, NOW],
  ] as const) {
    const last = refusedAttempt({ startedAt: NOW + 20_000 });
    const { effects } = play([
      [NOW + 10_000, first],
      [NOW + 16_000, second],
      [NOW + 20_000, last],
    ]);
    t.match(resultOf(effects[2] ?? []), { attempts: 3, firstFailedAt }, name);
  }
});

t.test('it repeats a spoilt attempt at once, and counts only those that were not spoilt', async (t) => {
  const { effects } = play([
    [NOW + 10_000, timedOutAttempt({ startedAt: NOW }), true],
    [NOW + 20_000, timedOutAttempt({ startedAt: NOW + 10_000 })],
    [NOW + 32_000, timedOutAttempt({ startedAt: NOW + 22_000 }), true],
    [NOW + 42_000, timedOutAttempt({ startedAt: NOW + 32_000 })],
    [NOW + 56_000, timedOutAttempt({ startedAt: NOW + 46_000 })],
  ]);
  t.same(effects.slice(0, 4), [
    [{ type: 'wake', at: NOW + 10_000 }],
    [
      { type: 'wake', at: NOW + 22_000 },
      { type: 'doubt', failedAt: NOW + 10_000 },
    ],
    [{ type: 'wake', at: NOW + 32_000 }],
    [{ type: 'wake', at: NOW + 46_000 }],
  ]);
  t.match(resultOf(effects[4] ?? []), { attempts: 3, firstFailedAt: NOW + 10_000, suspect: null });
});

t.test('a check whose attempts are spoilt again and again ends without a verdict', async (t) => {
  const spoilt = [1, 2, 3, 4].map(
    (number) => [NOW + number * 10_000, timedOutAttempt({ startedAt: NOW }), true] as const,
  );
  const { effects, state } = play(spoilt);
  t.same(
    effects.map((each) => each.map(({ type }) => type)),
    [['wake'], ['wake'], ['wake'], ['report', 'wake']],
  );
  t.match(resultOf(effects[3] ?? []), { suspect: 'loop_late', attempts: 1, firstFailedAt: null });
  t.equal(state.check, null);
});

t.test('the time of the first failure follows a wall clock that is set', async (t) => {
  for (const [setByMs, firstFailedAt] of [
    [3_600_000, NOW + 3_600_000],
    [-3_600_000.4, NOW - 3_600_000],
    [40, NOW],
  ] as const) {
    let state = answer(begun(), NOW + 10_000, timedOutAttempt({ startedAt: NOW })).state;
    const offset = OFFSET + setByMs;
    for (const at of [NOW + 12_000, NOW + 26_000]) {
      const attempt = timedOutAttempt({ startedAt: at + setByMs });
      const step = answer(begun(state), at + setByMs + 10_000, attempt, false, offset);
      state = step.state;
      if (state.check === null) t.equal(resultOf(step.effects)?.firstFailedAt, firstFailedAt);
      else t.equal(state.check.firstFailedAt, firstFailedAt);
    }
  }
});

t.test('it does not repeat what is blocked, and waits as a 429 asks', async (t) => {
  const blocked = goodAttempt({ statusCode: 429, blocked: true, retryAfterMs: 60_000, startedAt: NOW });
  const { effects, state } = play([[NOW + 3_400, blocked, true]]);
  t.match(resultOf(effects[0] ?? []), { suspect: 'loop_late', attempts: 1 });
  t.equal(state.notBefore, NOW + 63_400);
});

t.test('it repeats nothing by an old definition', async (t) => {
  const state = handle(begun(), { type: 'defined', target: moved, soonAt: NOW, now: NOW }).state;
  const step = answer(state, NOW + 10, timedOutAttempt(), true);
  t.same(step, { state: idleProbe(moved), effects: [{ type: 'wake', at: NOW + 10 }] });
});

t.test('it sends a doubt for the first attempt without a response, also for own faults', async (t) => {
  const doubtsOf = (...attempts: Attempt[]) =>
    play(attempts.map((attempt, index) => [NOW + index * 5_000, attempt] as const)).effects.map(
      (effects) => effects.filter(({ type }) => type === 'doubt').length,
    );
  const broken = goodAttempt({
    statusCode: 503,
    failure: { class: 'status', phase: 'first_byte', cause: { code: 'text', text: '503' } },
  });
  t.same(doubtsOf(refusedAttempt(), refusedAttempt(), refusedAttempt()), [1, 0, 0]);
  t.same(doubtsOf(refusedAttempt({ suspect: 'own_fault' }), refusedAttempt()), [1, 0]);
  t.same(doubtsOf(broken, refusedAttempt(), refusedAttempt()), [0, 1, 0]);
  t.same(doubtsOf(broken, broken, refusedAttempt()), [0, 0, 1]);
  t.same(doubtsOf(broken, broken, broken), [0, 0, 0]);
  t.same(doubtsOf(refusedAttempt({ answered: true })), [0], 'a response without an HTTP status');
});

const renamed = targetOf(7, { revision: 2 });
const moved = targetOf(7, { revision: 2, domain: 'new' });
const memory = { needsGet: true, headSeen: false, healthSeen: false, askHealthAt: null };

t.test('an idle service takes a new definition, and is checked soon if its check has changed', async (t) => {
  const taught: ProbeState = idleProbe({ ...target, memory });
  const soonAt = NOW + 20;
  t.same(handle(taught, { type: 'defined', target: moved, soonAt, now: NOW }), {
    state: idleProbe(moved),
    effects: [{ type: 'hasten', at: soonAt }],
  });
  t.same(handle(taught, { type: 'defined', target: renamed, soonAt, now: NOW }), {
    state: idleProbe({ ...renamed, memory }),
    effects: [],
  });
  t.same(
    handle(idleProbe(target, NOW + 900), { type: 'defined', target: moved, soonAt, now: NOW }).effects,
    [{ type: 'hasten', at: NOW + 900 }],
    'a 429 is obeyed all the same',
  );
});

t.test(
  'it ends a check with the definition it began with, and then checks by the new one at once',
  async (t) => {
    const hasty = targetOf(7, { revision: 2, check: { ...target.check, timeoutMs: 1_000 } });
    for (const changed of [moved, hasty]) {
      const state = handle(begun(), { type: 'defined', target: changed, soonAt: NOW, now: NOW }).state;
      const step = answer(state, NOW + 5, goodAttempt({ startedAt: NOW, memory }));
      t.equal(resultOf(step.effects)?.revision, 1);
      t.match(step.effects.at(-1), { type: 'wake', at: NOW + 5 });
      t.same(step.state, idleProbe(changed === moved ? moved : { ...hasty, memory }));
    }
  },
);

t.test(
  'a check goes on where only the name of the service changes, and is one of the new revision',
  async (t) => {
    const attempts = [0, 1, 2].map((index) => refusedAttempt({ startedAt: NOW + index * 5_000 }));
    for (const renamedBefore of [0, 1, 2]) {
      let state = begun();
      let effects: readonly ProbeEffect[] = [];
      for (const [index, attempt] of attempts.entries()) {
        if (index > 0) state = handle(state, { type: 'due' }).state;
        if (index === renamedBefore)
          state = handle(state, { type: 'defined', target: renamed, soonAt: NOW, now: NOW }).state;
        ({ state, effects } = answer(state, NOW + index * 5_000 + 5, attempt));
      }
      t.match(resultOf(effects), { revision: 2, attempts: 3, firstFailedAt: NOW });
      const next = effects.at(-1);
      t.ok(next?.type === 'wake' && next.at > NOW + 60_000, 'and the next one is at its phase');
    }
  },
);

t.test('it gives no verdict on an unconfirmed failure of an old definition', async (t) => {
  const attempting = handle(begun(), { type: 'defined', target: moved, soonAt: NOW, now: NOW }).state;
  t.match(answer(attempting, NOW + 5, refusedAttempt({ startedAt: NOW })), {
    state: idleProbe(moved),
    effects: [{ type: 'wake', at: NOW + 5 }, { type: 'doubt' }],
  });
  const waiting = answer(begun(), NOW + 5, refusedAttempt({ startedAt: NOW })).state;
  t.same(handle(waiting, { type: 'defined', target: moved, soonAt: NOW + 20, now: NOW }), {
    state: idleProbe(moved),
    effects: [{ type: 'wake', at: NOW + 20 }],
  });
});

t.test('a confirmation continues when only the name of the service has changed', async (t) => {
  const waiting = answer(begun(), NOW + 5, refusedAttempt({ startedAt: NOW })).state;
  const state = handle(waiting, { type: 'defined', target: renamed, soonAt: NOW, now: NOW }).state;
  t.same(handle(state, { type: 'due' }).effects, [{ type: 'attempt', target, number: 1 }]);
});

t.test('a check that waits for a re-check begins anew if its times change', async (t) => {
  const waiting = answer(begun(), NOW + 5, refusedAttempt({ startedAt: NOW })).state;
  const hasty = targetOf(7, { revision: 2, check: { ...target.check, confirmAfterMs: [] } });
  t.same(handle(waiting, { type: 'defined', target: hasty, soonAt: NOW + 20, now: NOW }), {
    state: idleProbe(hasty),
    effects: [{ type: 'wake', at: NOW + 20 }],
  });
  const attempting = handle(begun(), { type: 'defined', target: hasty, soonAt: NOW, now: NOW }).state;
  t.match(answer(attempting, NOW + 5, refusedAttempt({ startedAt: NOW })), {
    state: idleProbe(hasty),
    effects: [{ type: 'wake', at: NOW + 5 }, { type: 'doubt' }],
  });
});

t.test('it confirms a failure by the re-checks of the service', async (t) => {
  const own = (confirmAfterMs: readonly number[]) =>
    idleProbe(targetOf(7, { check: { ...target.check, confirmAfterMs } }));
  const failures = [0, 1, 2, 3].map((index) => [NOW + index, refusedAttempt()] as const);
  const waitsOf = (confirmAfterMs: readonly number[]) => {
    const { effects } = play(failures.slice(0, confirmAfterMs.length + 1), begun(own(confirmAfterMs)));
    const wakes = effects.slice(0, -1).flatMap((step) => step.filter((effect) => effect.type === 'wake'));
    return [wakes.map(({ at }, index) => at - NOW - index), resultOf(effects.at(-1) ?? [])?.attempts];
  };
  t.same(waitsOf([]), [[], 1]);
  t.same(waitsOf([500]), [[500], 2]);
  t.same(waitsOf([500, 60_000, 7]), [[500, 60_000, 7], 4]);
});

t.test('it plans by the interval of the service, and shifts it by the same part', async (t) => {
  const intervalMs = 30_000;
  const shifted = createProbeHandler({ ...USUAL, intervalMs: INTERVAL, phaseShiftMs: () => INTERVAL / 4 });
  const short = idleProbe(targetOf(7, { check: { ...target.check, intervalMs } }));
  const state = shifted(short, { type: 'due' }).state;
  const { effects } = shifted(state, {
    ...{ type: 'attempted', target: short.target, attempt: goodAttempt({ startedAt: NOW }), spoilt: false },
    ...{ now: NOW + 12, clockOffset: OFFSET, loopDelayMs: 3 },
  });
  const wake = effects.find((effect) => effect.type === 'wake');
  t.equal((wake?.at ?? 0) % intervalMs, (phaseOf(7, intervalMs) + intervalMs / 4) % intervalMs);
  t.ok((wake?.at ?? 0) > NOW + intervalMs / 2 && (wake?.at ?? 0) <= NOW + intervalMs * 1.5);
});

t.test('a new interval obeys a 429, and does not postpone the first check', async (t) => {
  const day = targetOf(7, { revision: 2, check: { ...target.check, intervalMs: 86_400_000 } });
  const short = targetOf(7, { revision: 2, check: { ...target.check, intervalMs: 1_000 } });
  const defined = (state: ProbeState, changed: typeof day) =>
    handle(state, { type: 'defined', target: changed, soonAt: NOW, now: NOW }).effects;
  t.match(defined(idleProbe(target), day), [{ type: 'hasten' }], 'it was never checked');
  t.match(defined(idleProbe(target), { ...day, lastCheckedAt: NOW - 9 }), [{ type: 'wake' }]);
  t.same(defined(idleProbe(target, NOW + 5_000), { ...short, lastCheckedAt: NOW - 9 }), [
    { type: 'wake', at: NOW + 5_000 },
  ]);
});

t.test('it ignores attempts that it does not wait for', async (t) => {
  const other = targetOf(7);
  const late = {
    target: other,
    attempt: refusedAttempt(),
    spoilt: false,
    now: NOW,
    clockOffset: OFFSET,
    loopDelayMs: 0,
  };
  for (const state of [idleProbe(target), begun()]) {
    t.same(handle(state, { type: 'attempted', ...late }), { state, effects: [] });
    t.same(handle(state, { type: 'aborted', target: other }), { state, effects: [] });
  }
  t.same(handle(begun(), { type: 'due' }), { state: begun(), effects: [] }, 'one attempt at a time');
});

t.test(
  'it is checked again when asked, unless it is under check or has asked to be left alone',
  async (t) => {
    const recheck = { type: 'recheck', at: NOW + 50 } as const;
    t.same(handle(idleProbe(target), recheck).effects, [{ type: 'hasten', at: NOW + 50 }]);
    t.same(handle(begun(), recheck), { state: begun(), effects: [] });
    const { state } = play([
      [NOW, goodAttempt({ statusCode: 429, blocked: true, retryAfterMs: 600_000, startedAt: NOW })],
    ]);
    t.same(handle(state, recheck).effects, [{ type: 'hasten', at: NOW + 600_000 }]);
    const later = play([[NOW + 600_000, goodAttempt({ startedAt: NOW + 600_000 })]], begun(state));
    t.same(later.state, idleProbe(target), 'the next answer ends the pause');
  },
);

t.test('it waits no longer than an hour, whatever a 429 asks', async (t) => {
  const { state } = play([
    [NOW, goodAttempt({ statusCode: 429, blocked: true, retryAfterMs: 86_400_000, startedAt: NOW })],
  ]);
  t.equal(state.notBefore, NOW + 3_600_000);
});

t.test('it keeps the probe memory of an attempt', async (t) => {
  t.same(play([[NOW + 5, goodAttempt({ startedAt: NOW, memory })]]).state.target.memory, memory);
});

t.test('it gives no verdict when an attempt is aborted', async (t) => {
  t.same(handle(begun(), { type: 'aborted', target }), { state: idleProbe(target), effects: [] });
});

t.test('a bug in an attempt gives no verdict, and the service waits for its phase', async (t) => {
  const { effects } = play([[NOW + 5, goodAttempt({ startedAt: NOW })]]);
  const [next] = effects.flat().filter(({ type }) => type === 'wake');
  const broken = { type: 'broken', target, startedAt: NOW, now: NOW + 5 } as const;
  t.same(handle(begun(), broken), { state: idleProbe(target), effects: [next] });
  const newer = { ...target, revision: 2, domain: 'other.example' };
  const redefined = handle(begun(), { type: 'defined', target: newer, soonAt: NOW, now: NOW }).state;
  t.same(handle(redefined, broken), { state: idleProbe(newer), effects: [{ type: 'wake', at: NOW + 5 }] });
  const other = { ...target };
  t.same(handle(begun(), { ...broken, target: other }).effects, [], 'an attempt of an earlier check');
});

t.test('it ends every check with one report and one wake after at most three attempts', async () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('good', 'refused', 'blocked', 'own'), { minLength: 3, maxLength: 3 }),
      (kinds) => {
        const attempts = kinds.map((kind, index) => {
          const changes = { startedAt: NOW + index * 5_000 };
          const attempt =
            kind === 'good'
              ? goodAttempt(changes)
              : kind === 'refused'
                ? refusedAttempt(changes)
                : kind === 'blocked'
                  ? goodAttempt({ ...changes, blocked: true })
                  : refusedAttempt({ ...changes, suspect: 'own_fault' });
          return [NOW + index * 5_000 + 10, attempt] as const;
        });
        const end = kinds.findIndex((kind) => kind === 'good' || kind === 'blocked');
        const used = end === -1 ? 3 : end + 1;
        const { effects, state } = play(attempts.slice(0, used));
        const all = effects.flat();
        if (all.filter(({ type }) => type === 'report').length !== 1) throw new Error('reports');
        if (all.filter(({ type }) => type === 'wake').length !== used) throw new Error('wakes');
        if (state.check !== null) throw new Error('not at rest');
        if (resultOf(all)?.attempts !== used) throw new Error('attempts');
      },
    ),
  );
});
