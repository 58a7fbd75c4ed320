/** Limits of tasks that run at once, by key too: their order, also over failures. */
import fc from 'fast-check';
import t from 'tap';
import { createConcurrencyLimiter, createKeyedLimiter } from '../../src/async/concurrency-limiter.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('a limiter keeps to its maximum, in order, also over tasks that fail', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), fails: fc.boolean() }), { maxLength: 20 }),
      fc.boolean(),
      async (maxRunning, tasks, isKeyed) => {
        const running: string[] = [];
        const begun: number[] = [];
        let isWithin = true;
        const limit = createConcurrencyLimiter(maxRunning);
        const limitKeyed = createKeyedLimiter(maxRunning);
        const results = await Promise.allSettled(
          tasks.map(({ key, fails }, index) => {
            const task = async () => {
              begun.push(index);
              if (isKeyed && running.includes(key)) isWithin = false;
              running.push(key);
              if (running.length > maxRunning) isWithin = false;
              await turn();
              running.splice(running.indexOf(key), 1);
              if (fails) throw new Error(key);
              return index;
            };
            return isKeyed ? limitKeyed(key, task) : limit(task);
          }),
        );
        const order = (key: string | null) =>
          begun.filter((index) => key === null || tasks[index]?.key === key);
        const isOrdered = (isKeyed ? ['a', 'b', 'c'] : [null]).every((key) =>
          order(key).every((index, place, all) => place === 0 || index > (all[place - 1] ?? 0)),
        );
        const isRight = results.every((result, index) =>
          tasks[index]?.fails
            ? result.status === 'rejected'
            : result.status === 'fulfilled' && result.value === index,
        );
        return isWithin && isOrdered && isRight && begun.length === tasks.length;
      },
    ),
  );
});

t.test('a task that continues an earlier one precedes waiting ones', async (t) => {
  const limit = createKeyedLimiter(1);
  const begun: string[] = [];
  const task = (name: string) => async () => void begun.push(name);
  await Promise.all([
    limit('a', task('first')),
    limit('b', task('second')),
    limit('a', task('continued'), true),
  ]);
  t.same(begun, ['first', 'continued', 'second']);
});
