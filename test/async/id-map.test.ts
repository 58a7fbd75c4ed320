import fc from 'fast-check';
import t from 'tap';
import { IdMap } from '../../src/async/id-map.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it behaves as a map whose keys are in ascending order', async (t) => {
  const id = fc.oneof(fc.nat(20), fc.integer({ min: 1_000, max: 1_050 }), fc.nat(2 ** 40));
  const step = fc.oneof(
    fc.tuple(fc.constant('set' as const), id),
    fc.tuple(fc.constant('delete' as const), id),
    fc.tuple(fc.constant('clear' as const), fc.constant(0)),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const map = new IdMap<string>();
      const model = new Map<number, string>();
      for (const [index, [name, key]] of steps.entries()) {
        if (name === 'clear' && index % 5 > 0) continue;
        if (name === 'set') {
          map.set(key, `value ${index}`);
          model.set(key, `value ${index}`);
        } else if (name === 'delete') t.equal(map.delete(key), model.delete(key));
        else {
          map.clear();
          model.clear();
        }
        t.equal(map.get(key), model.get(key));
        t.equal(map.has(key), model.has(key));
      }
      const sorted = [...model].sort(([a], [b]) => a - b);
      t.equal(map.size, model.size);
      t.same([...map], sorted);
      t.same(
        [...map.keys()],
        sorted.map(([key]) => key),
      );
      t.same(
        [...map.values()],
        sorted.map(([, value]) => value),
      );
    }),
    { numRuns: propertyRuns(200) },
  );
});

t.test('entries may be deleted and replaced while it is iterated', async (t) => {
  const map = new IdMap<number>();
  for (let id = 0; id < 3_000; id += 500) map.set(id, id);
  const seen: number[] = [];
  for (const [id] of map) {
    seen.push(id);
    map.delete(id === 500 ? 1_500 : id);
  }
  t.same(seen, [0, 500, 1_000, 2_000, 2_500]);
  t.same([...map.keys()], [500]);
});

t.test('it refuses what is no id', async (t) => {
  const map = new IdMap<number>();
  for (const id of [-1, 0.5, Number.NaN, 2 ** 53]) t.throws(() => map.set(id, 1), RangeError);
  t.equal(map.get(-1), undefined);
  t.equal(map.get(0.5), undefined);
  t.equal(map.delete(-1), false);
});
