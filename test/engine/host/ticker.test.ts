/** Ticks: regular while there is something to do. */
import t from 'tap';
import { startTicker } from '../../../src/engine/host/ticker.ts';
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
