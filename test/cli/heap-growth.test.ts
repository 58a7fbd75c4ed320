/** The bound on the garbage of heaps, which gives way to what was set before. */
import t from 'tap';
import { planHeapGrowth } from '../../src/cli/heap-growth.ts';

t.test('heaps grow by half, unless a small memory or the operator has set a bound', async (t) => {
  t.equal(planHeapGrowth([], undefined), '--heap-growing-percent=50');
  t.equal(planHeapGrowth(['--use-system-ca'], '--max-semi-space-size=8'), '--heap-growing-percent=50');
  t.equal(planHeapGrowth(['--heap-growing-percent=10']), null);
  t.equal(planHeapGrowth([], '--heap-growing-percent=20'), null);
});
