/** A test file that starts a program in a process group of its own and never ends; `test/run.test.ts` terminates it. */
import { spawn } from 'node:child_process';
import t from 'tap';

t.test('it never ends', { timeout: 600_000 }, async () => {
  // Without an environment, as a program that has overwritten its own.
  spawn('sleep', ['600'], { detached: true, stdio: 'ignore', env: {} });
  await new Promise((resolve) => setTimeout(resolve, 600_000));
});
