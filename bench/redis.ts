/**
 * The status endpoint whose limits are counted in Redis, beside `node:http` that sends the same bytes:
 * `node bench/redis.ts`. By the server's own CPU time, as `bench/api.ts`. Starts Debian's redis-server on a free port;
 * without one there are no rows.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { freePort } from '../test/support/free-port.ts';
import { compare, fire, ROUND_SECONDS, ROUNDS, STATUS, startServer, subject } from './api.ts';
import { type BenchRow, printRows } from './row.ts';

/** Runs the benchmark, prints its table and returns its lines. Takes under half a minute. */
export async function run(): Promise<BenchRow[]> {
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const redis = spawn('redis-server', args, { cwd: tmpdir(), stdio: 'ignore' });
  const missing = await Promise.race([
    once(redis, 'spawn').then(() => false),
    once(redis, 'error').then(() => true),
  ]);
  if (missing) {
    console.log('redis-server is not there: apt-get install redis-server');
    return [];
  }
  const ended = once(redis, 'exit');
  const servers = await Promise.all([
    startServer('bare'),
    startServer('upbeat'),
    startServer('upbeat', `redis://127.0.0.1:${port}`),
  ]);
  const [bare, alone, shared] = servers;
  const floor = subject('node:http, the same JSON', bare, STATUS);
  const memory = subject('GET /status/:slug, limits in memory', alone, STATUS);
  const limited = subject('GET /status/:slug, limits in Redis', shared, STATUS);
  const subjects = [floor, memory, limited];
  try {
    for (const one of subjects) await fire(one, 1);
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of subjects) {
        const { cpuUs, perSecond } = await fire(one, ROUND_SECONDS);
        one.cpuUs.push(cpuUs);
        one.perSecond.push(perSecond);
      }
    }
  } finally {
    for (const { process } of servers) process.disconnect();
    redis.kill();
    await ended;
  }
  const rows = [compare(floor, null, null), compare(memory, floor, null), compare(limited, floor, 0.33)];
  printRows(rows);
  return rows;
}

if (import.meta.main) await run();
