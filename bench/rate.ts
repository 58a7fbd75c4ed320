/**
 * What the whole program uses at a rate of real life, when few events share a wake-up: `node bench/rate.ts`. 10,000 services every 30 s are
 * 333 checks a second, beside blackbox_exporter at that rate. Origins are processes on the loopback interface that answer HEAD with 204.
 * Takes about two minutes.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { install, type RunningProgram } from '../test/support/program.ts';
import { workerOf } from '../test/support/stall.ts';
import { CA_FILE } from './check-ways.ts';
import { startHelper } from './child.ts';
import { type BlackboxExporter, NO_BLACKBOX_EXPORTER, startBlackboxExporter } from './peers.ts';
import { readThreads, type ThreadUse, useBetween } from './process-threads.ts';
import { absent, atMost, type BenchRow, floor, printRows, ratioAtMost } from './row.ts';

const LISTENERS = 64;
const RATE = 333;
/** V8 compiles most of what runs often within the first minute. */
const WARM_UP_MS = 30_000;
const PEER_WARM_UP_MS = 5_000;
const MEASURED_MS = 20_000;
const TRACED_MS = 5_000;
/** What the program may use for a check. */
const MAX_CHECK_US = 400;
const MAX_OF_BLACKBOX = 0.25;

/** A fleet, and how long its first checks take. */
interface Fleet {
  readonly services: number;
  readonly intervalMs: number;
  readonly firstSpreadMs: number;
}

/** What a program has used in a time. */
interface Used {
  readonly checks: number;
  readonly threads: readonly ThreadUse[];
}

/** Measures the fleet, and blackbox_exporter. */
export async function run(): Promise<readonly BenchRow[]> {
  if (process.platform !== 'linux') return printRows([absent('whole program', 'measured on Linux alone')]);
  const server = await startHelper<{ http: number[] }>('check-server.ts', [LISTENERS]);
  const urlOf = (n: number) => `http://127.0.0.1:${server.line.http[n % LISTENERS]}/`;
  try {
    const fleet = { services: 10_000, intervalMs: 30_000, firstSpreadMs: 30_000 };
    return printRows(await withProgram(fleet, urlOf, (program) => measureBusy(program, urlOf)));
  } finally {
    server.stop();
  }
}

/** Runs the program with a fleet until all services have been checked and its code is warm. */
async function withProgram<T>(
  { services, intervalMs, firstSpreadMs }: Fleet,
  urlOf: (n: number) => string,
  work: (program: RunningProgram) => Promise<T>,
): Promise<T> {
  const list = Array.from({ length: services }, (_, n) => ({
    slug: `s${n}`,
    check: { kind: 'root', url: urlOf(n) },
  }));
  const checks = {
    interval: `${intervalMs}ms`,
    firstSpread: `${firstSpreadMs}ms`,
    timeout: '10s',
    confirmAfter: ['2s', '4s'],
  };
  const installation = await install(list, { checks });
  const program = await installation.start();
  try {
    await pause(firstSpreadMs + WARM_UP_MS);
    return await work(program);
  } finally {
    await program.stop();
    installation.remove();
  }
}

async function measureBusy(
  program: RunningProgram,
  urlOf: (n: number) => string,
): Promise<readonly BenchRow[]> {
  const name = `whole program at ${RATE} checks/s`;
  const blackbox = await startBlackboxExporter(CA_FILE, 32);
  if (blackbox !== null) await scrapeAtRate(blackbox, urlOf, PEER_WARM_UP_MS);
  // At the same time: what a processor does in a second changes within a minute. Both together leave the processors half idle.
  const [{ checks, threads }, peerUs] = await Promise.all([
    use(program),
    blackbox === null ? null : scrapeAtRate(blackbox, urlOf, MEASURED_MS),
  ]);
  await blackbox?.stop();
  const us = sum(threads, 'cpuUs') / checks;
  const calls = await traceCalls(program);
  return [
    atMost(`${name}: CPU a check`, us, 'µs', MAX_CHECK_US),
    ...threads
      .filter(({ cpuUs }) => cpuUs / checks >= 1)
      .map(({ name: thread, cpuUs }) => floor(`  of it ${thread}`, cpuUs / checks, 'µs')),
    floor(`${name}: wake-ups a check`, sum(threads, 'wakeUps') / checks, 'of all threads'),
    calls ?? absent(`${name}: system calls a check`, 'not on this machine: apt-get install strace'),
    peerUs === null
      ? absent(`${name}, beside blackbox_exporter`, NO_BLACKBOX_EXPORTER)
      : ratioAtMost(
          `blackbox_exporter at ${RATE} checks/s: CPU a check`,
          peerUs,
          'µs',
          us / peerUs,
          MAX_OF_BLACKBOX,
        ),
  ];
}

async function use(program: RunningProgram): Promise<Used> {
  const pid = workerOf(program.process);
  const [checks, before] = [await checksDone(program), readThreads(pid)];
  await pause(MEASURED_MS);
  const threads = useBetween(before, readThreads(pid));
  return { checks: (await checksDone(program)) - checks, threads };
}

/** System calls a check, which tracing makes slower and does not change. Null: strace is not installed. */
async function traceCalls(program: RunningProgram): Promise<BenchRow | null> {
  if (spawnSync('strace', ['--version']).error !== undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-strace-'));
  const file = join(folder, 'counts');
  const before = await checksDone(program);
  const trace = spawn('strace', ['-f', '-c', '-o', file, '-p', String(workerOf(program.process))], {
    stdio: 'ignore',
  });
  await pause(TRACED_MS);
  trace.kill('SIGINT');
  await once(trace, 'exit');
  const checks = (await checksDone(program)) - before;
  const total = /^\s*100\.00\s+\S+\s+\S*\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1];
  rmSync(folder, { recursive: true });
  if (total === undefined) return absent('system calls a check', 'strace may not trace here');
  return floor(
    `whole program at ${RATE} checks/s: system calls a check`,
    Number(total) / checks,
    'of all threads',
  );
}

async function checksDone(program: RunningProgram): Promise<number> {
  const { body } = await program.get('/metrics');
  return Number(/^upbeat_checks_total (\d+)$/m.exec(String(body))?.[1]);
}

/** CPU time of a check by blackbox_exporter, which makes them at the same rate for a while, microseconds. */
async function scrapeAtRate(blackbox: BlackboxExporter, urlOf: (n: number) => string, ms: number) {
  const cpuUs = blackbox.cpuUs();
  const open: Promise<unknown>[] = [];
  const sinceMs = performance.now();
  for (let passedMs = 0; passedMs < ms; passedMs = performance.now() - sinceMs) {
    for (const due = Math.floor((passedMs / 1_000) * RATE); open.length < due; )
      open.push(blackbox.probe(urlOf(open.length)));
    await pause(1);
  }
  await Promise.all(open);
  return (blackbox.cpuUs() - cpuUs) / open.length;
}

function sum(threads: readonly ThreadUse[], what: 'cpuUs' | 'wakeUps'): number {
  return threads.reduce((total, thread) => total + thread[what], 0);
}

if (import.meta.main) await run();
