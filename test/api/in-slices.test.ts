/** Work in slices: in its order, and never all at once. */
import t from 'tap';
import { createSlices } from '../../src/api/in-slices.ts';

const pause = () => new Promise<void>((resolve) => setImmediate(resolve));

t.test('it runs tasks in their order, with room for others after every few', async (t) => {
  const later = createSlices(10);
  const done: number[] = [];
  for (let index = 0; index < 25; index++) later(() => void done.push(index));
  t.same(done, [], 'not while others put more in');
  await pause();
  t.equal(done.length, 10);
  later(() => void done.push(25));
  for (const many of [20, 26]) {
    await pause();
    t.equal(done.length, many);
  }
  t.same(
    done,
    Array.from({ length: 26 }, (_, index) => index),
  );
  later(() => void done.push(26));
  await pause();
  t.equal(done.length, 27, 'it begins again');
});

t.test('a task may put in more', async (t) => {
  const later = createSlices(10);
  const done: string[] = [];
  later(() => {
    done.push('first');
    later(() => void done.push('second'));
  });
  await pause();
  await pause();
  t.same(done, ['first', 'second']);
});
