/** The bound on the garbage of heaps, which gives way to what was set before. */
import { spawnSync } from 'node:child_process';
import t from 'tap';
import { collectLater, planHeapBounds, SMALL_HEAPS, SMALL_MAIN_HEAP } from '../../src/thread/v8-options.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const MB = 1_048_576;

t.test('heaps grow by half, unless a small memory or the operator has set a bound', async (t) => {
  t.same(planHeapBounds(20 * MB, [], undefined), ['--heap-growing-percent=50']);
  t.same(planHeapBounds(31 * MB, ['--use-system-ca'], '--max-semi-space-size=8'), [
    '--heap-growing-percent=50',
  ]);
  t.same(planHeapBounds(32 * MB, [], undefined), ['--heap-growing-percent=15'], 'large ones by less');
  t.same(planHeapBounds(400 * MB, [], '--heap-growing-percent=30'), []);
  const small = [
    '--optimize-for-size',
    '--heap-growing-percent=10',
    '--bytecode-old-age=2',
    '--no-sparkplug',
    '--flush-baseline-code',
  ];
  t.same(planHeapBounds(30 * MB, SMALL_HEAPS), small);
  t.same(planHeapBounds(30 * MB, SMALL_HEAPS, '--heap-growing-percent=30 --no-sparkplug'), [
    '--optimize-for-size',
    '--bytecode-old-age=2',
    '--flush-baseline-code',
  ]);
});

t.test('the options of a start leave the compiled code of Node.js valid', async (t) => {
  const tag = (options: readonly string[]) =>
    spawnSync(process.execPath, [...options, '--print', 'v8.cachedDataVersionTag()'], {
      encoding: 'utf8',
    }).stdout;
  t.equal(tag([...SMALL_HEAPS, SMALL_MAIN_HEAP]), tag([]));
});

t.test('the limit of the main heap is not that of other threads', async (t) => {
  const script = `
    import { Worker } from 'node:worker_threads';
    import { freeThreads } from ${JSON.stringify(new URL('../../src/thread/v8-options.ts', import.meta.url).href)};
    const limit = 'Math.round(process.getBuiltinModule("node:v8").getHeapStatistics().heap_size_limit / 1_048_576)';
    freeThreads();
    const own = process.getBuiltinModule('node:v8').getHeapStatistics().heap_size_limit / 1_048_576;
    const worker = new Worker(\`process.getBuiltinModule('node:worker_threads').parentPort.postMessage(\${limit})\`, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 100 },
    });
    worker.on('message', (limit) => console.log(JSON.stringify([own >= 2_040, limit < 150])));`;
  const options = [...SMALL_HEAPS, SMALL_MAIN_HEAP, '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, options, { encoding: 'utf8' });
  t.equal(stdout, '[true,true]\n', stderr);
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

t.test('it collects once what the start of a thread has left in a small heap', async (t) => {
  const clock = createFakeClock();
  const left = (() => new WeakRef({ of: 'a start' }))();
  collectLater(clock, []);
  await clock.advance(60_000);
  t.ok(left.deref(), 'large heaps are left alone');
  await new Promise((resolve) => setImmediate(resolve));
  collectLater(clock, SMALL_HEAPS);
  await clock.advance(60_000);
  t.equal(left.deref(), undefined);
});
