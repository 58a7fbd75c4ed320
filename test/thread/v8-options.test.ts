/** The bound on the garbage of heaps, which gives way to what was set before. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { planHeapGrowth } from '../../src/thread/v8-options.ts';

const MB = 1_048_576;

t.test('heaps grow by half, unless a small memory or the operator has set a bound', async (t) => {
  t.equal(planHeapGrowth(20 * MB, [], undefined), '--heap-growing-percent=50');
  t.equal(
    planHeapGrowth(31 * MB, ['--use-system-ca'], '--max-semi-space-size=8'),
    '--heap-growing-percent=50',
  );
  t.equal(planHeapGrowth(32 * MB, [], undefined), '--heap-growing-percent=15', 'large ones by less');
  t.equal(planHeapGrowth(30 * MB, ['--heap-growing-percent=10']), null);
  t.equal(planHeapGrowth(400 * MB, [], '--heap-growing-percent=30'), null);
});

/** Megabytes in use in a process of its own before and after {@link collectStart}, with garbage of so many megabytes. */
function collectIn(garbageMb: number): { readonly before: number; readonly after: number } {
  const script = `
    import { collectStart } from ${JSON.stringify(new URL('../../src/thread/v8-options.ts', import.meta.url).href)};
    let lists = Array.from({ length: ${garbageMb} }, () => new Array(131_072).fill(0.5));
    const used = () => Math.round(process.memoryUsage().heapUsed / 1_048_576);
    lists.length = 0;
    const before = used();
    collectStart();
    console.log(JSON.stringify({ before, after: used(), gc: typeof globalThis.gc }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

t.test('it collects the garbage of a start with many services, and leaves a small heap alone', async (t) => {
  const large = collectIn(300);
  t.ok(large.before > 128, 'the garbage was there');
  t.ok(large.after < large.before / 2);
  const small = collectIn(10);
  t.ok(small.after >= small.before);
});
