/**
 * What an installation with little to do costs, as the system counts it from outside: `node bench/idle.ts`. The whole program with 1,200
 * services every five minutes, in the third minute after its second start, which has the code that the first one compiled. Origins are
 * processes on the loopback interface that answer HEAD with 204. `--threads` prints the use of each thread, too.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { install } from '../test/support/program.ts';
import { workerOf } from '../test/support/stall.ts';
import { startHelper } from './child.ts';
import { memoryOf, processTree, readThreads, type ThreadUse, useBetween } from './process-threads.ts';
import { absent, atMost, type BenchRow, floor, printRows } from './row.ts';

const SERVICES = 1_200;
const LISTENERS = 64;
/** The first start has left its compiled code by then. */
const KEPT_MS = 5_000;
const FIRST_MS = 120_000;
/** A busy machine takes its time. */
const READY_WITHIN_MS = 600_000;
const MEASURED_MS = 60_000;
/** As on a machine where nothing says which authorities are trusted; each authority takes memory. */
const USUAL_AUTHORITIES = {
  SSL_CERT_FILE: undefined,
  SSL_CERT_DIR: undefined,
  NODE_EXTRA_CA_CERTS: undefined,
};
const NAME = 'whole program with 1,200 services every 5 min';

/** Measures the third minute. */
export async function run(): Promise<readonly BenchRow[]> {
  if (process.platform !== 'linux') return printRows([absent(NAME, 'measured on Linux alone')]);
  const server = await startHelper<{ http: number[] }>('check-server.ts', [LISTENERS]);
  const services = Array.from({ length: SERVICES }, (_, n) => ({
    slug: `s${n}`,
    check: { kind: 'root', url: `http://127.0.0.1:${server.line.http[n % LISTENERS]}/` },
  }));
  const checks = { interval: '5m', firstSpread: '20s', timeout: '10s', confirmAfter: ['2s', '4s'] };
  const installation = await install(services, { checks }, USUAL_AUTHORITIES);
  const first = await installation.start(undefined, READY_WITHIN_MS);
  await pause(KEPT_MS);
  await first.stop();
  const program = await installation.start(undefined, READY_WITHIN_MS);
  try {
    await pause(FIRST_MS);
    const parent = program.process.pid ?? 0;
    const before = processTree(parent).map((pid) => ({ pid, threads: readThreads(pid) }));
    await pause(MEASURED_MS);
    const used = before.flatMap(({ pid, threads }) => useBetween(threads, readThreads(pid)));
    if (process.argv.includes('--threads')) print(used);
    const all = memoryOf(parent);
    const own = memoryOf(workerOf(program.process));
    const minutes = MEASURED_MS / 60_000;
    return printRows([
      atMost(`${NAME}: CPU`, sum(used, 'cpuUs') / 1_000 / minutes, 'ms a minute', 600),
      atMost(`${NAME}: wake-ups`, sum(used, 'wakeUps') / minutes / 60, 'a second', 30),
      atMost(`${NAME}: held`, own.rss / 1e6, 'MB', 110),
      atMost(`${NAME}: held with its parent, shared pages once`, all.pss / 1e6, 'MB', 95),
      floor(`${NAME}: held by its parent, shared pages once`, (all.pss - own.pss) / 1e6, 'MB'),
    ]);
  } finally {
    await program.stop();
    installation.remove();
    server.stop();
  }
}

function sum(threads: readonly ThreadUse[], what: 'cpuUs' | 'wakeUps'): number {
  return threads.reduce((total, thread) => total + thread[what], 0);
}

function print(threads: readonly ThreadUse[]): void {
  for (const { name, cpuUs, wakeUps } of threads)
    console.log(
      `  ${name.padEnd(16)} ${(cpuUs / 1_000).toFixed(0)} ms ${(wakeUps / 60).toFixed(1)} a second`,
    );
}

if (import.meta.main) await run();
