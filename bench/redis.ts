/**
 * The status endpoint with rate limits in Redis, compared with `node:http` that sends the same bytes: `node bench/redis.ts`.
 * It compares the server's own CPU time, as `bench/api.ts`. It starts Debian's redis-server on a free port; without one there
 * are no rows.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { freePort } from '../test/support/free-port.ts';
import { hasProgram } from '../test/support/install-servers.ts';
import { compare, STATUS, startServer, subject, takeTurns } from './api.ts';
import { type BenchRow, printRows } from './row.ts';

/** Runs the benchmark, prints its table and returns its lines. Takes under half a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  if (!hasProgram('redis-server')) {
    console.log('redis-server is not installed: apt-get install redis-server');
    return [];
  }
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const redis = spawn('redis-server', args, { cwd: tmpdir(), stdio: 'ignore' });
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
    await takeTurns(subjects, servers);
  } finally {
    redis.kill();
    await ended;
  }
  const rows = [compare(floor, null, null), compare(memory, floor, null), compare(limited, floor, 0.45)];
  return printRows(rows);
}

if (import.meta.main) await run();
