import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { planLargeHeaps, planMemory } from '../../src/cli/child-memory.ts';
import { openCompileCache } from '../../src/cli/compile-cache.mjs';

t.test('it keeps heaps small where they are wanted so, and what the operator has set', (t) => {
  t.same(planMemory({}, false, '/cache'), {
    execArgv: ['--use-system-ca', '--max-semi-space-size=16', '--no-allocation-site-pretenuring'],
    env: { MALLOC_ARENA_MAX: '2', NODE_COMPILE_CACHE: '/cache' },
  });
  t.same(planMemory({}, true, null), {
    execArgv: ['--use-system-ca', '--max-semi-space-size=1', '--v8-pool-size=1', '--max-old-space-size=2040'],
    env: {
      MALLOC_ARENA_MAX: '1',
      MALLOC_MMAP_THRESHOLD_: '8192',
      MALLOC_TRIM_THRESHOLD_: '65536',
      MALLOC_TOP_PAD_: '65536',
    },
  });
  const own = {
    NODE_OPTIONS: '--max-semi-space-size=8',
    MALLOC_ARENA_MAX: '4',
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    MALLOC_TOP_PAD_: '131072',
    NODE_COMPILE_CACHE: '/other',
  };
  t.same(planMemory(own, true, '/cache'), {
    execArgv: ['--use-system-ca'],
    env: {},
  });
  t.same(
    planMemory({ NODE_OPTIONS: '--max-old-space-size=300' }, true, null).execArgv,
    ['--use-system-ca', '--max-semi-space-size=1', '--v8-pool-size=1'],
    'a limit of the operator stays',
  );
  t.same(planMemory(own, false, '/cache').execArgv, ['--use-system-ca'], 'nor the usual limit');
  const small = planMemory({}, true, '/cache').env;
  t.same(planLargeHeaps({ HOME: '/', ...small }), {
    execArgv: ['--use-system-ca', '--max-semi-space-size=16', '--no-allocation-site-pretenuring'],
    env: { HOME: '/', MALLOC_ARENA_MAX: '2', NODE_COMPILE_CACHE: '/cache' },
  });
  t.same(planLargeHeaps(own).env, own, 'the heaps grow, and what the operator has set stays');
  t.end();
});

t.test('it keeps compiled sources where no other user can put any', (t) => {
  const parent = t.testdir();
  const folder = openCompileCache(parent) ?? '';
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.equal(openCompileCache(parent), folder, 'again');
  chmodSync(folder, 0o777);
  t.equal(openCompileCache(parent), null, 'open to others');
  t.equal(openCompileCache(join(parent, 'not', 'there')), null);
  const ofImage = join(parent, 'image');
  mkdirSync(ofImage, { mode: 0o755 });
  t.equal(openCompileCache(parent, ofImage), null, "another folder than a private one is not the image's");
  chmodSync(ofImage, 0o700);
  t.equal(openCompileCache(parent, ofImage), ofImage);
  const elsewhere = t.testdir({ target: {} });
  mkdirSync(join(elsewhere, 'parent'));
  symlinkSync(join(elsewhere, 'target'), join(elsewhere, 'parent', folder.split('/').at(-1) ?? ''));
  t.equal(openCompileCache(join(elsewhere, 'parent')), null, 'a link');
  t.end();
});
