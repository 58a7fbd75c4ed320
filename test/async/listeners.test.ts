/** Listeners: their order, their removal, and those that throw. */
import t from 'tap';
import { createListeners } from '../../src/async/listeners.ts';

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
