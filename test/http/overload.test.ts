/** What is refused under overload, and in which order. */
import t from 'tap';
import {
  createOverload,
  REQUEST_CLASSES,
  type RequestClass,
  refusedPart,
  stepPressure,
} from '../../src/http/overload.ts';
import type { Log } from '../../src/log.ts';
import { silentLog } from '../../src/log.ts';
import { double } from '../support/double.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const CALM = { isLate: false, waits: { pages: false, api: false } };

/** Seconds of overload, then of none, in ticks of `tickMs`; the pressure after each second. */
function pressures(overloadedS: number, idleS: number, tickMs: number): number[] {
  let pressure = -0.5;
  const found: number[] = [];
  for (let ms = tickMs; ms <= (overloadedS + idleS) * 1_000; ms += tickMs) {
    pressure = stepPressure(pressure, tickMs, { ...CALM, isLate: ms <= overloadedS * 1_000 });
    if (ms % 1_000 === 0) found.push(Math.round(pressure * 100) / 100);
  }
  return found;
}

t.test('the pressure rises and falls at one rate, whatever the length of the ticks', async (t) => {
  const wanted = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3, 2.5, 2, 1.5, 1, 0.5, 0, -0.5, -0.5];
  for (const tickMs of [100, 250, 500]) t.same(pressures(8, 8, tickMs), wanted);
});

t.test('one long pause of the event loop is no overload', async (t) => {
  t.equal(stepPressure(-0.5, 60_000, { ...CALM, isLate: true }), -0.25);
});

t.test('a class begins to be refused when all of the one before it is', async (t) => {
  for (const [pressure, parts] of [
    [-0.5, [0, 0, 0]],
    [0, [0, 0, 0]],
    [0.25, [0.25, 0, 0]],
    [1, [1, 0, 0]],
    [1.5, [1, 0.5, 0]],
    [2.75, [1, 1, 0.75]],
    [3, [1, 1, 1]],
  ] as const)
    t.same(
      REQUEST_CLASSES.map((one) => refusedPart(pressure, one)),
      parts,
    );
});

/** An overload by a clock of the test; how many of a hundred requests of each class it refuses. */
function createWorld(log: Log = silentLog, waitedMs = () => ({ first: 0, others: 0 })) {
  const clock = createFakeClock();
  const counted: RequestClass[] = [];
  const overload = createOverload({
    clock,
    log,
    turns: double({ waitedMs }),
    onRefused: (one) => counted.push(one),
  });
  const refusedOf = (one: RequestClass) =>
    Array.from({ length: 100 }, () => overload.refuses(one)).filter((isRefused) => isRefused).length;
  return { clock, overload, counted, refused: () => REQUEST_CLASSES.map(refusedOf) };
}

t.test('it refuses by parts while its event loop is late, and nothing soon afterwards', async (t) => {
  const said: string[] = [];
  const note = (_fields: object, message: string) => void said.push(message);
  const { clock, counted, overload, refused } = createWorld({ ...silentLog, warn: note, info: note });
  t.equal(overload.problem(), null);
  t.same(refused(), [0, 0, 0]);
  const late = async (times: number) => {
    for (let n = 0; n < times; n++) await clock.skip(500);
  };
  await late(2);
  t.same(refused(), [0, 0, 0], 'a second is borne');
  await late(2);
  t.same(refused(), [50, 0, 0]);
  t.equal(overload.problem(), 'requests are refused: pages');
  await late(4);
  t.same(refused(), [100, 50, 0]);
  await late(4);
  t.same(refused(), [100, 100, 50]);
  await late(100);
  t.same(refused(), [100, 100, 100]);
  t.equal(counted.length, 50 + 150 + 250 + 300, 'each is counted');
  await clock.advance(2_000);
  t.same(refused(), [100, 100, 0], 'what matters most comes back first');
  await clock.advance(4_000);
  t.same(refused(), [0, 0, 0]);
  await clock.advance(1_100);
  t.same(said, [
    ...Array(3).fill('overloaded; requests are refused, the least important first'),
    'no longer overloaded; nothing is refused any more',
  ]);
});

t.test('ticks that are a little late are no overload', async (t) => {
  const { clock, refused } = createWorld();
  for (let n = 0; n < 100; n++) await clock.skip(340);
  t.same(refused(), [0, 0, 0]);
});

t.test('it refuses while too many requests wait for a store', async (t) => {
  const { clock, overload, refused } = createWorld();
  for (let n = 0; n < 2_000; n++) overload.enter();
  await clock.advance(10_000);
  t.same(refused(), [0, 0, 0]);
  overload.enter();
  await clock.advance(3_000);
  t.same(refused(), [100, 0, 0]);
  overload.leave();
  await clock.advance(2_000);
  t.same(refused(), [0, 0, 0]);
});

t.test('it refuses while requests wait too long to be started', async (t) => {
  let waited = { first: 0, others: 1_000 };
  const { clock, refused } = createWorld(silentLog, () => waited);
  await clock.advance(10_000);
  t.same(refused(), [0, 0, 0]);
  waited = { first: 0, others: 1_001 };
  await clock.advance(60_000);
  t.same(refused(), [100, 0, 0], 'pages that wait are no reason to refuse the API');
  waited = { first: 1_001, others: 0 };
  await clock.advance(60_000);
  t.same(refused(), [100, 100, 0], 'nor is the API a reason to refuse heartbeats');
  waited = { first: 0, others: 0 };
  await clock.advance(10_000);
  t.same(refused(), [0, 0, 0]);
});
