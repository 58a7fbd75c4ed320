import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openCompileCache, planMemory } from '../../src/cli/child-memory.ts';

const GIB = 1_073_741_824;

t.test('it keeps heaps small where there is little memory, and what the operator has set', (t) => {
  t.same(planMemory({}, 8 * GIB, '/cache'), {
    execArgv: [],
    env: { MALLOC_ARENA_MAX: '2', NODE_COMPILE_CACHE: '/cache' },
  });
  t.same(planMemory({}, 256 * 1_048_576, null), {
    execArgv: ['--max-semi-space-size=1'],
    env: { MALLOC_ARENA_MAX: '2' },
  });
  const own = {
    NODE_OPTIONS: '--max-semi-space-size=8',
    MALLOC_ARENA_MAX: '4',
    NODE_COMPILE_CACHE: '/other',
  };
  t.same(planMemory(own, 256 * 1_048_576, '/cache'), { execArgv: [], env: {} });
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
  const elsewhere = t.testdir({ target: {} });
  mkdirSync(join(elsewhere, 'parent'));
  symlinkSync(join(elsewhere, 'target'), join(elsewhere, 'parent', folder.split('/').at(-1) ?? ''));
  t.equal(openCompileCache(join(elsewhere, 'parent')), null, 'a link');
  t.end();
});
