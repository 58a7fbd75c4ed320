import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { runGroup } from './support/run-group.ts';
import { findMarkedProcesses } from './support/run-processes.ts';

t.test('it leaves no process behind when the run is terminated', { timeout: 120_000 }, async (t) => {
  if (!existsSync('/proc/self/environ')) return t.comment('SKIPPED: this system has no /proc');
  const environment = Object.entries(process.env).filter(
    ([name]) => !/^(?:TAP|_TAPJS|NODE_OPTIONS$)/.test(name),
  );
  const run = spawn(process.execPath, [join(import.meta.dirname, 'run.ts'), 'test/support/endless-test.ts'], {
    env: Object.fromEntries(environment),
    stdio: 'ignore',
  });
  t.teardown(() => run.kill('SIGKILL'));
  const ended = once(run, 'exit');
  const mark = `TEST_RUN_ID=${run.pid}`;
  while (run.exitCode === null && !findMarkedProcesses(mark).some(isSleep)) await delay(50);
  t.ok(findMarkedProcesses(mark).length >= 2, 'the test file and the program it started are found');
  run.kill('SIGTERM');
  const [status] = await ended;
  t.equal(status, 143);
  t.same(findMarkedProcesses(mark), []);
});

/** Whether a process is the program that `endless-test.ts` starts. */
function isSleep(id: number): boolean {
  try {
    return readFileSync(`/proc/${id}/cmdline`, 'latin1').startsWith('sleep\0');
  } catch {
    return false;
  }
}

/** What follows `import t from 'tap'` in the files of a process, and which of them must be well. */
const GROUPS = [
  [
    'files that share a process fail each for themselves',
    [
      ["t.test('it is well', async (t) => t.ok(1));", true],
      ["t.test('it fails', async (t) => t.ok(0));", false],
      ["import './nothing.ts';", false],
      ["t.test('it is well', async (t) => t.ok(1));", true],
    ],
  ],
  [
    'an error that no test caught can have come from any file of its process',
    [
      ["t.test('it is well', async (t) => t.ok(1));", false],
      ["t.test('it rejects', async () => void Promise.reject(new Error('lost')));", false],
    ],
  ],
  [
    'a file that ends its process fails, and leaves the next ones to another',
    [["t.test('it exits', async () => process.exit(0));", false]],
  ],
] as const;

for (const [title, files] of GROUPS)
  t.test(title, async (t) => {
    const sources = files.map(([source], index) => [`${index}.ts`, `import t from 'tap'; ${source}`]);
    const folder = t.testdir({ ...Object.fromEntries(sources), 'next.ts': "import t from 'tap'; t.pass();" });
    const names = [...files.keys()].map((index) => join(folder, `${index}.ts`));
    const reports = await runGroup([...names, join(folder, 'next.ts')], process.env);
    t.same(
      reports.slice(0, files.length).map(({ name, ok }) => [name, ok]),
      files.map(([, ok], index) => [names[index], ok]),
    );
  });
