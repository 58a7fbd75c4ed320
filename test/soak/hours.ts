/**
 * `npm run soak -- hours [HH:MM ...]`: runs the whole `npm test` once for each hour of the day (UTC; 23:50 by default),
 * as on a machine whose wall clock is there. The clock runs on, so that a run which begins at 23:50 sees midnight. It is
 * the last such hour, not the next: servers written in Go keep the machine's clock, and doubt samples of the future.
 * One file is left out: the dashboards ask InfluxDB for what came up to its own now.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { createWallClock, NEEDS_WALL_CLOCK } from '../support/wall-clock.ts';

const DAY_MS = 86_400_000;
const ROOT = join(import.meta.dirname, '../..');
const FILES = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
  (file) => file !== 'test/grafana/queries.test.ts',
);
/** Reading the clock's file at every call would cost the tests more than what they do. */
const KEEP_OFFSET = { FAKETIME_NO_CACHE: '0' };

if ('skip' in NEEDS_WALL_CLOCK) throw new Error(`${NEEDS_WALL_CLOCK.skip}: apt-get install faketime`);
const hours = process.argv.slice(2);
for (const hour of hours.length === 0 ? ['23:50'] : hours) await runAt(hour);

async function runAt(hour: string): Promise<void> {
  const [, hh, mm] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(hour) ?? [];
  if (hh === undefined) throw new Error(`${hour} is not a time of day such as 23:50`);
  const now = Date.now();
  const today = now - (now % DAY_MS) + (Number(hh) * 60 + Number(mm)) * 60_000;
  const ends: (() => void)[] = [];
  const { environment } = createWallClock(
    { teardown: (end) => void ends.push(end) },
    today > now ? today - DAY_MS : today,
    'UTC',
  );
  console.log(`== npm test at ${hour} UTC`);
  const run = spawn(process.execPath, [join(ROOT, 'test/run.ts'), ...FILES], {
    stdio: 'inherit',
    env: { ...process.env, ...environment, ...KEEP_OFFSET },
  });
  const [status] = await once(run, 'exit');
  for (const end of ends) end();
  if (status !== 0) process.exitCode = 1;
}
