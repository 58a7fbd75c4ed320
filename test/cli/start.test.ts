/** The program ends with the shell that npx has put before it. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import t from 'tap';
import { isRunByNpx, planParent } from '../../src/cli/start.ts';
import { until } from '../support/loopback.ts';
import { install } from '../support/program.ts';

t.test('it knows what npx has started by itself', async (t) => {
  for (const [event, script, expected] of [
    ['npx', 'upbeat start', true],
    ['npx', '"upbeat" start --config a.yaml', true],
    ['npx', 'tap test/cli', false],
    ['npx', 'upbeats', false],
    ['start', 'upbeat start', false],
    ['npx', undefined, false],
    [undefined, undefined, false],
  ] as const) {
    const env = { npm_lifecycle_event: event, npm_lifecycle_script: script };
    t.equal(isRunByNpx(env), expected, `${event}: ${script}`);
  }
});

t.test('it leaves to Node.js and the operator which authorities are trusted', async (t) => {
  for (const given of [{}, { SSL_CERT_FILE: '/mine.pem' }, { SSL_CERT_DIR: '/mine' }]) {
    const { env } = planParent('upbeat.yaml', given);
    t.same(Object.fromEntries(Object.entries(env).filter(([name]) => /^SSL_|CA_CERTS/.test(name))), given);
  }
});

t.test('a signal that ends the shell of npx stops the program', async (t) => {
  const installation = await install([]);
  const command = `"${process.execPath}" ${join(import.meta.dirname, '../../bin/upbeat.mjs')} start --config ${join(installation.folder, 'upbeat.yaml')}`;
  // What follows keeps the shell from becoming the program.
  const shell = spawn('/bin/sh', ['-c', `${command}; true`], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, npm_lifecycle_event: 'npx', npm_lifecycle_script: 'upbeat start' },
    detached: true,
  });
  let output = '';
  shell.stdout.on('data', (chunk) => (output += chunk));
  const silent = once(shell.stdout, 'end');
  t.teardown(() => {
    try {
      process.kill(-(shell.pid ?? 0), 'SIGKILL');
    } catch {
      // Nothing is left of the group, as it should be.
    }
    installation.remove();
  });
  await until(() => output.includes('Upbeat is running at'));
  shell.kill('SIGTERM');
  await silent;
  t.match(output, /"msg":"stopped"/);
});
