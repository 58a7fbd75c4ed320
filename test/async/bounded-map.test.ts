/** A map of a bounded size, against a list of all entries. */
import fc from 'fast-check';
import t from 'tap';
import { BoundedMap, createPromiseCache } from '../../src/async/bounded-map.ts';

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

t.test('it makes a value once for all who ask, until its content changes or its time is over', async (t) => {
  let now = 0;
  let made = 0;
  const cached = createPromiseCache<string, number>({ maxEntries: 2, maxAgeMs: 10, now: () => now });
  const ask = (key: string, content = '') => cached(key, content, async () => ++made);
  t.same(await Promise.all([ask('a'), ask('a'), ask('b')]), [1, 1, 2]);
  t.equal(await ask('a', 'other'), 3);
  now = 10;
  t.equal(await ask('b'), 4);
  t.same([await ask('c'), await ask('a', 'other')], [5, 6], 'the entry made first was dropped');
});

t.test('it keeps no error, but what stands for one', async (t) => {
  let now = 0;
  const fail = async () => Promise.reject(new Error('away'));
  const plain = createPromiseCache<string, number>({ maxEntries: 2, maxAgeMs: 10, now: () => now });
  await t.rejects(plain('a', '', fail), /away/);
  t.equal(await plain('a', '', async () => 1), 1);

  const recover = (error: unknown, last: number | null) => (String(error).includes('away') ? last : null);
  const kept = createPromiseCache<string, number>({ maxEntries: 2, maxAgeMs: 10, now: () => now, recover });
  t.equal(await kept('a', '', async () => 1), 1);
  now = 10;
  t.equal(await kept('a', '', fail), 1);
  t.equal(await kept('a', '', async () => 2), 1, 'until its time is over');
  now = 20;
  t.equal(await kept('a', '', async () => 2), 2);
});
