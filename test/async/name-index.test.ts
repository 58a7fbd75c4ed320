import fc from 'fast-check';
import t from 'tap';
import { NameIndex } from '../../src/async/name-index.ts';
import { propertyRuns } from '../support/property-runs.ts';

t.test('it behaves as a map of the names that ids have', async () => {
  const name = fc.oneof(fc.constantFrom('', 'a', 'b', 'ab'), fc.nat(400).map(String), fc.string());
  const step = fc.record({
    isSet: fc.boolean(),
    name,
    id: fc.oneof(fc.nat(300), fc.constantFrom(2 ** 31, 2 ** 32 - 3)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 800, size: 'max' }), (steps) => {
      const names = new Map<number, string>();
      const model = new Map<string, number>();
      const index = new NameIndex((id) => names.get(id));
      /** Whether the index answers as the model does. */
      const forget = (id: number): boolean => {
        const former = names.get(id);
        if (former === undefined) return true;
        const isHeld = model.get(former) === id;
        names.delete(id);
        if (isHeld) model.delete(former);
        return index.delete(former, id) === isHeld;
      };
      const isRight = steps.every(({ isSet, name, id }) => {
        const isForgotten = forget(id);
        if (isSet) {
          names.set(id, name);
          index.set(name, id);
          model.set(name, id);
        }
        return isForgotten && index.get(name) === model.get(name);
      });
      return (
        isRight &&
        index.size === model.size &&
        steps.every(({ name: asked }) => index.get(asked) === model.get(asked))
      );
    }),
    { numRuns: propertyRuns(100) },
  );
});

t.test('it finds each of many names, also after most were removed and others added', async (t) => {
  const names: string[] = [];
  const index = new NameIndex((id) => names[id]);
  const add = (id: number) => {
    names[id] = `service-${id}.example`;
    index.set(names[id], id);
  };
  for (let id = 0; id < 50_000; id++) add(id);
  t.equal(index.size, 50_000);
  for (let id = 0; id < 49_000; id++) index.delete(names[id] ?? '', id);
  for (let id = 50_000; id < 60_000; id++) add(id);
  t.equal(index.size, 11_000);
  const wrong = names.filter((name, id) => index.get(name) !== (id < 49_000 ? undefined : id));
  t.strictSame(wrong, []);
});

t.test('a name that an id has no more is not found, and can be deleted', async (t) => {
  const names = new Map<number, string>();
  const index = new NameIndex((id) => names.get(id));
  names.set(1, 'old');
  index.set('old', 1);
  names.set(1, 'new');
  t.equal(index.get('old'), undefined);
  t.equal(index.get('new'), undefined, 'it was not set');
  t.ok(index.delete('old', 1));
  t.notOk(index.delete('old', 1));
  index.set('new', 1);
  t.equal(index.get('new'), 1);
});

t.test('it refuses numbers that are no ids', async (t) => {
  const index = new NameIndex(() => undefined);
  for (const id of [-1, 0.5, 2 ** 32 - 2, Number.NaN])
    t.throws(() => index.set('a', id), RangeError, `${id}`);
});
