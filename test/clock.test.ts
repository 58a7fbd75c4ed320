import { mock } from 'node:test';
import t from 'tap';
import { systemClock } from '../src/clock.ts';

t.test('tasks whose periods divide each other run in one wake-up, whenever they were started', async (t) => {
  const keepAlive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(keepAlive));
  /** Changes with each turn of the event loop in which a task runs. */
  let turn = 0;
  const turns: Record<'quarter' | 'half' | 'late', number[]> = { quarter: [], half: [], late: [] };
  const note = (name: keyof typeof turns) => () => {
    turns[name].push(turn);
    setImmediate(() => turn++);
  };
  const cancels = [systemClock.every(250, note('quarter')), systemClock.every(500, note('half'))];
  const started = Promise.withResolvers<void>();
  systemClock.after(60, () => {
    cancels.push(systemClock.every(250, note('late')));
    started.resolve();
  });
  await started.promise;
  await new Promise<void>((resolve) => {
    cancels.push(systemClock.every(1_000, () => turns.late.length >= 3 && resolve()));
  });
  for (const cancel of cancels) cancel();
  t.ok(turns.half.length > 0 && turns.half.every((one) => turns.quarter.includes(one)), 'half a second');
  t.ok(
    turns.late.slice(1).every((one) => turns.quarter.includes(one)),
    'one that was started later',
  );
});

t.test('a cancelled task does not run, even if another one cancels it in the same turn', async (t) => {
  const keepAlive = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(keepAlive));
  let runs = 0;
  const first = systemClock.every(250, () => second());
  const second = systemClock.every(250, () => runs++);
  await new Promise<void>((resolve) => {
    const cancel = systemClock.every(500, () => {
      cancel();
      resolve();
    });
  });
  first();
  first();
  t.equal(runs, 0);
});

t.test('a period that is no multiple of a quarter of a second has a timer of its own', async (t) => {
  await new Promise<void>((resolve) => {
    const keepAlive = setInterval(() => {}, 1_000);
    const cancel = systemClock.every(20, () => {
      cancel();
      clearInterval(keepAlive);
      resolve();
    });
  });
  t.pass('it ran');
});

t.test('a long period is whole from its beginning', async (t) => {
  mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
  t.teardown(() => mock.timers.reset());
  let runs = 0;
  const cancel = systemClock.every(15_000, () => runs++);
  mock.timers.tick(14_999);
  t.equal(runs, 0);
  mock.timers.tick(1);
  t.equal(runs, 1);
  mock.timers.tick(15_000);
  t.equal(runs, 2);
  cancel();
});
