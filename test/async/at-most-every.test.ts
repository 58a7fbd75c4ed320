import t from 'tap';
import { atMostEvery } from '../../src/async/at-most-every.ts';

t.test('it allows something once in an interval', async (t) => {
  let now = 0;
  const may = atMostEvery(100, () => now);
  const asked = [0, 99, 100, 150, 1_000, 1_001].map((at) => {
    now = at;
    return may();
  });
  t.strictSame(asked, [true, false, true, false, true, false]);
});
