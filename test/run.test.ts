import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
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
