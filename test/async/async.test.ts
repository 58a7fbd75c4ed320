/** The patterns of asynchronous code: bounds, order, and that nothing runs twice or is lost. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { BoundedMap } from '../../src/async/bounded-map.ts';
import { createCoalescingLoop } from '../../src/async/coalescing-loop.ts';
import { createConcurrencyLimiter, createKeyedLimiter } from '../../src/async/concurrency-limiter.ts';
import { forEachYielding, inParts, runAtOnce, runInParts, sortInParts } from '../../src/async/in-parts.ts';
import { createListeners } from '../../src/async/listeners.ts';
import { createBackoff, retry } from '../../src/async/retry.ts';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('a bounded map keeps the newest entries, as a list of all would', async () => {
  const step = fc.record({
    kind: fc.constantFrom('set' as const, 'touch' as const, 'delete' as const),
    key: fc.integer({ min: 0, max: 8 }),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step), (maxEntries, steps) => {
      const map = new BoundedMap<number, number>(maxEntries);
      let model: (readonly [number, number])[] = [];
      for (const [value, { kind, key }] of steps.entries()) {
        const known = model.find(([other]) => other === key);
        if (kind === 'set') map.set(key, value);
        else if (kind === 'delete') map.delete(key);
        else if (map.touch(key) !== known?.[1]) return false;
        if (kind === 'touch' && known === undefined) continue;
        model = model.filter(([other]) => other !== key);
        if (kind !== 'delete') model.push([key, kind === 'set' ? value : (known?.[1] ?? 0)]);
        model = model.slice(-maxEntries);
        if (JSON.stringify([...map]) !== JSON.stringify(model)) return false;
      }
      return true;
    }),
  );
});

t.test('listeners are called in order until they are removed, each as often as it was added', async (t) => {
  const listeners = createListeners<[number]>();
  const heard: string[] = [];
  const first = (n: number) => void heard.push(`first ${n}`);
  const removals = [
    listeners.add(first),
    listeners.add((n) => void heard.push(`other ${n}`)),
    listeners.add(first),
  ];
  listeners.notify(1);
  removals[0]?.();
  removals[0]?.();
  listeners.notify(2);
  t.same(heard, ['first 1', 'other 1', 'first 1', 'other 2', 'first 2']);
  t.equal(listeners.size, 2);
  listeners.clear();
  listeners.notify(3);
  t.equal(heard.length, 5);
});

t.test('a listener that throws does not affect others if errors are handled', async (t) => {
  const fault = new Error('mine');
  const taken: unknown[] = [];
  const careful = createListeners<[number]>((error, n) => taken.push([error, n]));
  const strict = createListeners<[number]>();
  let heard = 0;
  for (const listeners of [careful, strict]) {
    listeners.add(() => {
      throw fault;
    });
    listeners.add((n) => {
      heard += n;
    });
  }
  careful.notify(7);
  t.same([heard, taken], [7, [[fault, 7]]]);
  t.throws(() => strict.notify(1), fault);
});

t.test('a coalescing loop runs again once for all calls during a run', async (t) => {
  const gates: (() => void)[] = [];
  const loop = createCoalescingLoop(() => new Promise((resolve) => gates.push(resolve)));
  const ended: string[] = [];
  void loop.run().then(() => ended.push('first'));
  t.equal(gates.length, 1, 'begins within the call');
  void loop.run().then(() => ended.push('second'));
  void loop.run().then(() => ended.push('third'));
  void loop.idle().then(() => ended.push('idle'));
  await turn();
  t.same([gates.length, loop.isRunning], [1, true]);
  gates[0]?.();
  await turn();
  t.same([gates.length, ended], [2, ['first']]);
  gates[1]?.();
  await turn();
  t.same(ended, ['first', 'second', 'third', 'idle']);
  t.same([gates.length, loop.isRunning], [2, false]);
  await loop.idle();
});

t.test('a coalescing loop never overlaps and never leaves a call without a later run', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 20 }), async (pauses) => {
      let running = 0;
      let begun = 0;
      let most = 0;
      const loop = createCoalescingLoop(async () => {
        begun += 1;
        most = Math.max(most, ++running);
        await turn();
        running -= 1;
      });
      const calls: Promise<boolean>[] = [];
      for (const pause of pauses) {
        const before = begun;
        calls.push(loop.run().then(() => begun > before));
        for (let count = 0; count < pause; count++) await (count % 2 === 0 ? null : turn());
      }
      const served = await Promise.all(calls);
      await loop.idle();
      return most <= 1 && served.every(Boolean) && begun <= pauses.length && !loop.isRunning;
    }),
  );
});

t.test('pauses double up to their maximum, until a success', async (t) => {
  const backoff = createBackoff(100, 500);
  t.same([1, 2, 3, 4].map(backoff.next), [100, 200, 400, 500]);
  t.equal(backoff.pauseMs, 500);
  backoff.reset();
  t.same([backoff.pauseMs, backoff.next(), backoff.next()], [100, 100, 200]);
});

t.test('a retry repeats transient failures only, and no more often than allowed', async (t) => {
  const outcomes = async (maxRetries: number, ...results: readonly string[]) => {
    let attempts = 0;
    const firstRetries: unknown[] = [];
    const options = {
      maxRetries,
      pauseMs: 0,
      isTransient: (error: unknown) => error === 'transient',
      onFirstRetry: (error: unknown) => void firstRetries.push(error),
    };
    const attempt = async () => {
      const result = results[attempts++];
      if (result !== 'done') throw result;
      return result;
    };
    const ended = await retry(attempt, options).catch((error: unknown) => error);
    return { ended, attempts, firstRetries };
  };
  t.same(await outcomes(3, 'done'), { ended: 'done', attempts: 1, firstRetries: [] });
  t.same(await outcomes(3, 'transient', 'transient', 'done'), {
    ended: 'done',
    attempts: 3,
    firstRetries: ['transient'],
  });
  t.same(await outcomes(1, 'transient', 'transient', 'done'), {
    ended: 'transient',
    attempts: 2,
    firstRetries: ['transient'],
  });
  t.same(await outcomes(3, 'fatal', 'done'), { ended: 'fatal', attempts: 1, firstRetries: [] });
});

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

t.test('a long list is processed in parts, one in each iteration of the event loop', async (t) => {
  const parts: (readonly number[])[] = [];
  const work = forEachYielding([1, 2, 3, 4, 5], 2, (part) => parts.push(part));
  t.equal(parts.length, 1);
  await turn();
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
