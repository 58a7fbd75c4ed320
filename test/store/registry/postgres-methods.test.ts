import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { joinCalls } from '../../../src/store/registry/postgres-methods.ts';

t.test('calls that come while others wait are made together, in their order', async (t) => {
  const made: { readonly items: readonly number[]; readonly end: (error?: Error) => void }[] = [];
  const call = joinCalls<number, string>(
    (items) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error ? reject(error) : resolve(items.map((item) => `v${item}`)));
        made.push({ items, end });
      }),
    { maxAtOnce: 2, maxItems: 3 },
  );
  const values = [1, 2, 3, 4, 5, 6].map((item) => call(item).catch((error: Error) => error.message));
  await turn();
  const items = () => made.map((one) => one.items);
  t.same(items(), [[1], [2]]);
  made[0]?.end();
  await turn();
  t.same(items(), [[1], [2], [3, 4, 5]], 'at most as many items as it may have');
  made[1]?.end(new Error('away'));
  made[2]?.end();
  await turn();
  t.same(items().slice(3), [[6]]);
  made[3]?.end();
  t.same(await Promise.all(values), ['v1', 'away', 'v3', 'v4', 'v5', 'v6']);
  const later = call(7);
  await turn();
  made[4]?.end();
  t.equal(await later, 'v7', 'it goes on after it was idle');
});
