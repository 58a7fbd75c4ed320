import t from 'tap';
import { afterLoopTime } from '../../src/record/control-watch.ts';
import { createFakeClock } from '../support/fake-clock.ts';

t.test('it counts the time in which the event loop turned, and no standstill', async (t) => {
  for (const [name, standstills, ranAtMs] of [
    ['a loop that is on time', [], 3_000],
    ['one standstill', [[1_020, 60_000]], 62_950],
    ['a standstill at the end', [[2_950, 5_000]], 7_950],
    ['a loop that is always late', Array.from({ length: 100 }, (_, index) => [index * 200 + 50, 100]), 4_150],
  ] as const) {
    const clock = createFakeClock();
    let stoodStillMs = 0;
    const late = { ...clock, monotonic: () => clock.monotonic() + stoodStillMs };
    const ran: number[] = [];
    afterLoopTime(late, 3_000, () => ran.push(late.monotonic()));
    for (const [at, ms] of standstills) {
      await clock.advance(Math.max(0, at - clock.monotonic()));
      stoodStillMs += ms;
    }
    await clock.advance(10_000);
    t.equal(ran.length, 1, name);
    t.ok(Math.abs((ran[0] ?? 0) - ranAtMs) <= 150, `${name}: ${ran[0]}`);
  }
});

t.test('it lets what has arrived be read first, and can be cancelled until then', async (t) => {
  const clock = createFakeClock();
  const ran: string[] = [];
  const cancels: (() => void)[] = [];
  // What is read after the timers of the same turn of the event loop.
  let read = () => {};
  const after = (delayMs: number, task: () => void) =>
    clock.after(delayMs, () => {
      task();
      read();
    });
  for (const name of ['cancelled by what was read', 'cancelled', 'kept'])
    cancels.push(afterLoopTime({ ...clock, after }, 250, () => ran.push(name)));
  cancels[1]?.();
  read = () => cancels[0]?.();
  await clock.advance(249);
  t.same(ran, []);
  await clock.advance(1);
  t.same(ran, ['kept']);
});
