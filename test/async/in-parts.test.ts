/** Computations in parts, beside those at once. */
import { isDeepStrictEqual } from 'node:util';
import t from 'tap';
import {
  createCooperativeQueue,
  forEachYielding,
  inParts,
  runAtOnce,
  runInParts,
  sortInParts,
} from '../../src/async/in-parts.ts';

t.test('a computation in parts has the result of one at once, and lets the event loop turn', async (t) => {
  const byKey = (a: { readonly key: number }, b: { readonly key: number }) => a.key - b.key;
  for (const [length, turns] of [
    [0, 0],
    [1, 1],
    [10_000, 1],
    [35_000, 9],
  ] as const) {
    const items = Array.from({ length }, (_, place) => ({ key: (place * 7_919) % 4_099, place }));
    const sorted = items.toSorted(byKey);
    t.ok(isDeepStrictEqual(runAtOnce(sortInParts(items, byKey)), sorted), `${length} items at once`);
    const inTurns = runInParts(sortInParts(items, byKey));
    let pauses = 0;
    for (const computation = sortInParts(items, byKey); computation.next().done !== true; ) pauses++;
    t.ok(isDeepStrictEqual(await inTurns, sorted), `${length} items in turns`);
    t.ok(pauses >= turns, `${length} items: ${pauses} pauses`);
  }
  const seen: number[] = [];
  await runInParts(inParts([1, 2, 3], (item) => void seen.push(item)));
  t.same(seen, [1, 2, 3]);
  await t.rejects(
    runInParts(
      inParts([1], () => {
        throw new Error('mine');
      }),
    ),
    { message: 'mine' },
  );
});

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

t.test('a long list is processed in parts, one in each iteration of the event loop', async (t) => {
  const parts: (readonly number[])[] = [];
  const work = forEachYielding([1, 2, 3, 4, 5], 2, (part) => parts.push(part));
  t.equal(parts.length, 1);
  await pause();
  t.equal(parts.length, 2);
  await work;
  t.same(parts, [[1, 2], [3, 4], [5]]);
  await t.rejects(
    forEachYielding([1], 1, () => {
      throw new Error('mine');
    }),
    { message: 'mine' },
  );
});
