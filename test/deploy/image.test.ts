/** The image without Docker: its steps in an empty folder, its command as it starts, its health check as it is asked. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import t from 'tap';
import { freePort } from '../support/free-port.ts';
import { runImageSteps } from './image-steps.ts';

const ROOT = join(import.meta.dirname, '../..');

t.test('it serves from what the image holds, and answers its health check', async (t) => {
  const place = t.testdir({ image: {}, data: {} });
  const { folder, environment, command, healthCheck } = runImageSteps(ROOT, join(place, 'image'));
  for (const left of ['node_modules/tap', 'node_modules/typescript', 'node_modules/node', 'test', '.git'])
    t.notOk(existsSync(join(folder, left)), `no ${left}`);

  const port = await freePort();
  const [, ...rest] = command;
  const child = spawn(process.execPath, rest, {
    cwd: folder,
    stdio: 'pipe',
    env: {
      PATH: process.env.PATH,
      ...environment,
      UPBEAT_STORAGE_DATADIR: join(place, 'data'),
      UPBEAT_HTTP_HOST: '127.0.0.1',
      UPBEAT_HTTP_PORT: String(port),
      UPBEAT_CHECKS_FIRSTSPREAD: '1h',
      UPBEAT_CHECKS_CONTROLTARGETS: 'http://127.0.0.1:9/',
    },
  });
  let said = '';
  child.stdout.on('data', (chunk) => (said += chunk));
  child.stderr.on('data', (chunk) => (said += chunk));
  const ended = once(child, 'exit');
  const ready = async (): Promise<boolean> => {
    for (let tries = 0; tries < 2_400 && child.exitCode === null; tries++) {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      if (answer?.status === 200) return true;
      await setTimeout(100);
    }
    return false;
  };
  t.ok(await ready(), said);
  const [, ...check] = healthCheck;
  const statusAt = (UPBEAT_HTTP_PORT: number) =>
    spawnSync(process.execPath, check, {
      cwd: folder,
      env: { ...environment, UPBEAT_HTTP_HOST: '127.0.0.1', UPBEAT_HTTP_PORT: String(UPBEAT_HTTP_PORT) },
    }).status;
  t.equal(statusAt(port), 0, 'healthy at the configured port');
  t.equal(statusAt(await freePort()), 1);
  const badge = await fetch(`http://127.0.0.1:${port}/api/badge/github-com`);
  t.equal(badge.headers.get('content-type'), 'image/png');
  child.kill('SIGTERM');
  t.same(await ended, [0, null], said);
  t.ok(
    said
      .trim()
      .split('\n')
      .every((line) => line.startsWith('{')),
    'its log is JSON',
  );
  t.ok(readdirSync(folder).includes('LICENSE'));
});
