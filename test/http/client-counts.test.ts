/** How many of something each client holds. */
import t from 'tap';
import { createClientCounts } from '../../src/http/client-address.ts';

t.test('it counts what each client holds', async (t) => {
  const counts = createClientCounts();
  counts.add('a');
  counts.add('a');
  counts.add('b');
  t.same([counts.of('a'), counts.of('b'), counts.of('c')], [2, 1, 0]);
  counts.remove('a');
  counts.remove('b');
  t.same([counts.of('a'), counts.of('b')], [1, 0]);
});
