import fc from 'fast-check';
import t from 'tap';
import type { Attempt } from '../../src/domain/result.ts';
import { phaseOf } from '../../src/engine/host/phase.ts';
import {
  createProbeHandler,
  type ProbeEffect,
  type ProbeState,
  restingProbe,
} from '../../src/engine/host/probe-actor.ts';
import { goodAttempt, refusedAttempt, targetOf } from './attempt.ts';

const INTERVAL = 300_000;
const handle = createProbeHandler({ intervalMs: INTERVAL, confirmAfterMs: [2_000, 4_000] });
const target = targetOf(7);
const NOW = 1_800_000_000_000;

/** Plays attempts that end at these times; returns the effects of each and the last state. */
function play(attempts: readonly (readonly [endedAt: number, attempt: Attempt])[]) {
  let state: ProbeState = handle(restingProbe(target), { type: 'due', now: NOW }).state;
  const effects: ProbeEffect[][] = [];
  for (const [now, attempt] of attempts) {
    const step = handle(state, { type: 'attempted', attempt, now, loopDelayMs: 3 });
    effects.push([...step.effects]);
    state = step.state.checking === null ? step.state : handle(step.state, { type: 'due', now }).state;
  }
  return { state, effects };
}

const resultOf = (effects: readonly ProbeEffect[]) =>
  effects.flatMap((e) => (e.type === 'report' ? [e.result] : []))[0];

t.test('it reports a good attempt at once and sleeps until its phase', async (t) => {
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
  t.equal(state.target.lastCheckedAt, NOW);
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
          failure: { class: 'status', phase: 'first_byte', detail: '503' },
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

t.test('it calls a check suspect in which an attempt failed by our own fault', async (t) => {
  const { effects } = play([
    [NOW + 50, refusedAttempt({ startedAt: NOW, suspect: 'own_fault' })],
    [NOW + 2_100, refusedAttempt({ startedAt: NOW + 2_050 })],
    [NOW + 6_150, refusedAttempt({ startedAt: NOW + 6_100 })],
  ]);
  t.equal(resultOf(effects[2] ?? [])?.suspect, 'own_fault');
});

t.test('it finishes a check with the definition it began with, and goes on with the new one', async (t) => {
  let state = handle(restingProbe(target), { type: 'due', now: NOW }).state;
  state = handle(state, { type: 'defined', target: targetOf(7, { revision: 2, domain: 'new' }) }).state;
  const learnt = goodAttempt({
    startedAt: NOW,
    memory: { needsGet: true, healthSeen: false, askHealthAt: null },
  });
  const step = handle(state, { type: 'attempted', attempt: learnt, now: NOW + 5, loopDelayMs: 0 });
  t.equal(resultOf(step.effects)?.revision, 1);
  t.match(step.state.target, { revision: 2, domain: 'new', memory: { needsGet: false } });
});

t.test('it remembers what an attempt has taught', async (t) => {
  const memory = { needsGet: true, healthSeen: false, askHealthAt: null };
  t.same(play([[NOW + 5, goodAttempt({ startedAt: NOW, memory })]]).state.target.memory, memory);
});

t.test('it gives no verdict when an attempt is broken off', async (t) => {
  const state = handle(restingProbe(target), { type: 'due', now: NOW }).state;
  t.same(handle(state, { type: 'aborted' }), { state: restingProbe(target), effects: [] });
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
        if (state.checking !== null) throw new Error('not at rest');
        if (resultOf(all)?.attempts !== used) throw new Error('attempts');
      },
    ),
  );
});
