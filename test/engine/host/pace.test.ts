/** Ticks: regular while there is something to do. */
import t from 'tap';
import { createStartPacer, startTicker } from '../../../src/engine/host/pace.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function start() {
  const clock = createFakeClock();
  const state = { empty: 0 };
  const ticks: [atMs: number, leftOut: number][] = [];
  const plans: number[] = [];
  const ticker = startTicker({
    ...{ clock, tickMs: 100 },
    onTick: (leftOut) => void ticks.push([clock.monotonic(), leftOut]),
    emptyAhead: () => state.empty,
    onPlan: (dueMs) => void plans.push(dueMs),
  });
  const startMs = clock.monotonic();
  const seen = () => ticks.splice(0).map(([at, leftOut]) => [at - startMs, leftOut]);
  return { clock, state, plans, ticker, seen, startMs };
}

t.test('it leaves out ticks without work, and says when the next one is due', async (t) => {
  const { clock, state, plans, seen, startMs } = start();
  await clock.advance(200);
  t.same(seen(), [
    [100, 0],
    [200, 0],
  ]);
  state.empty = 4;
  await clock.advance(100);
  t.same([seen(), plans], [[[300, 0]], [startMs + 800]]);
  state.empty = 0;
  await clock.advance(600);
  t.same(seen(), [
    [800, 4],
    [900, 0],
  ]);
});

t.test('it wakes before the planned tick, rests when something has ended, and stops', async (t) => {
  const { clock, state, ticker, seen } = start();
  state.empty = 40;
  await clock.advance(100);
  seen();
  await clock.advance(250);
  state.empty = 0;
  ticker.wake();
  ticker.wake();
  await clock.advance(200);
  t.same(seen(), [
    [450, 0],
    [550, 0],
  ]);
  state.empty = 9;
  ticker.rest();
  await clock.advance(900);
  t.same(seen(), []);
  await clock.advance(100);
  t.same(seen(), [[1_550, 9]]);
  ticker.stop();
  ticker.wake();
  await clock.advance(10_000);
  t.same(seen(), []);
});

/** Waiting ones that make no burst. */
const FEW = 10;

/** The pacer after so many came in each of many ticks. */
function usedTo(perTick: number) {
  const pacer = createStartPacer(10);
  for (let tick = 0; tick < 1_000; tick++) pacer.note(perTick);
  return pacer;
}

t.test('it starts few at a time, and a burst in parts', async (t) => {
  const pacer = createStartPacer(10);
  t.same(
    [0, 1, 8, 256, 257, 500, 10_000].map((waiting) => pacer.starts(waiting)),
    [8, 8, 8, 8, 9, 16, 313],
  );
});

t.test('a single burst is no constant load', async (t) => {
  const pacer = usedTo(0);
  pacer.note(500);
  t.equal(pacer.starts(100), 8);
});

t.test('a constant load starts faster than it becomes due', async (t) => {
  for (const perSecond of [1_000, 3_000, 5_000, 20_000]) {
    const pacer = usedTo(perSecond / 100);
    const beginsPerSecond = pacer.starts(FEW) * 500;
    t.ok(beginsPerSecond >= perSecond * 1.5, `${perSecond} come, ${beginsPerSecond} can be begun`);
  }
});

t.test('it adapts when a constant load ends', async (t) => {
  const pacer = usedTo(200);
  t.equal(pacer.starts(FEW), 60);
  for (let tick = 0; tick < 1_000; tick++) pacer.note(0);
  t.equal(pacer.starts(FEW), 8);
});

t.test('a thread is busy from 500 checks a second on, not by a single burst', async (t) => {
  t.same(
    [0, 4, 6, 10].map((perTick) => usedTo(perTick).isBusy()),
    [false, false, true, true],
  );
  const pacer = usedTo(0);
  pacer.note(300);
  t.equal(pacer.isBusy(), false);
});
