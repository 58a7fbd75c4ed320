/** Long work in parts: in its order, and never all at once. */
import t from 'tap';
import { createCooperativeQueue } from '../../src/async/in-parts.ts';

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('it runs tasks in order, a few in each iteration of the event loop', async (t) => {
  const enqueue = createCooperativeQueue(10);
  const done: number[] = [];
  for (let index = 0; index < 25; index++) enqueue(() => void done.push(index));
  t.same(done, [], 'not while others put more in');
  await pause();
  t.equal(done.length, 10);
  enqueue(() => void done.push(25));
  for (const many of [20, 26]) {
    await pause();
    t.equal(done.length, many);
  }
  t.same(
    done,
    Array.from({ length: 26 }, (_, index) => index),
  );
  enqueue(() => void done.push(26));
  await pause();
  t.equal(done.length, 27, 'it begins again');
});

t.test('a task may add others', async (t) => {
  const enqueue = createCooperativeQueue(10);
  const done: string[] = [];
  enqueue(() => {
    done.push('first');
    enqueue(() => void done.push('second'));
  });
  await pause();
  await pause();
  t.same(done, ['first', 'second']);
});

t.test('a task costs the same however many wait', async (t) => {
  const enqueue = createCooperativeQueue(100);
  const total = 300_000;
  let done = 0;
  const moved = await countMovedElements(async () => {
    for (let index = 0; index < total; index++) enqueue(() => void done++);
    while (done < total) await pause();
  });
  t.ok(moved <= total, `${moved} elements were moved for ${total} tasks`);
});

/** Counts the elements of arrays that change their place, or are copied, during `work`. */
async function countMovedElements(work: () => Promise<void>): Promise<number> {
  let moved = 0;
  const methods = (['splice', 'shift', 'slice', 'unshift', 'copyWithin'] as const).map((name) => {
    const method = Array.prototype[name] as (...args: unknown[]) => unknown;
    const counting = function (this: unknown[], ...args: unknown[]): unknown {
      moved += this.length;
      return method.apply(this, args);
    };
    return { name, method, counting };
  });
  const put = (name: string, value: unknown) =>
    Object.defineProperty(Array.prototype, name, { configurable: true, writable: true, value });
  for (const { name, counting } of methods) put(name, counting);
  try {
    await work();
    return moved;
  } finally {
    for (const { name, method } of methods) put(name, method);
  }
}
