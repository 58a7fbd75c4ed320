import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import t from 'tap';

const SOURCE = `
  import t from 'tap';
  t.test('late', async (t) => {
    setTimeout(() => { throw new Error('an exception') }, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
  t.test('lost', async (t) => {
    void Promise.reject(new Error('a rejection'));
    await new Promise((resolve) => setTimeout(resolve, 20));
  });
`;

t.test('errors that nothing catches fail the file, which runs to its end', async (t) => {
  const file = join(t.testdir({ 'a.ts': SOURCE }), 'a.ts');
  const preload = new URL('quick-modules.ts', import.meta.url).href;
  const { status, stdout } = spawnSync(process.execPath, ['--import', preload, file], { encoding: 'utf8' });
  t.equal(status, 1);
  for (const problem of ['an exception', 'a rejection']) t.match(stdout, `- ${problem}`);
  t.match(stdout, /^# Subtest: lost$/m);
});
