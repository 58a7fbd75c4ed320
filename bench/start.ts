/**
 * What a start and a command cost: `node bench/start.ts`. It is the CPU time of all their processes and threads; that of a
 * start ends with the stop that follows as soon as the program is ready. The catalogue has one service and no vendor. The
 * program is also started from its sources, as it is where no bundle can be written.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { planMemory } from '../src/cli/child-memory.ts';
import { planBundle } from '../src/cli/program-bundle.ts';
import { install } from '../test/support/program.ts';
import { cpuOfEndedChildren } from './peers.ts';
import { memoryOf } from './process-threads.ts';
import { absent, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';

const ROUNDS = 5;
/** Time after which a start has left its compiled code. */
const KEPT_MS = 5_000;

/** Measures starts and commands with compiled sources and, once, a start that has to compile them. */
export async function run(): Promise<readonly BenchRow[]> {
  if (process.platform !== 'linux') return printRows([absent('start: CPU', 'measured on Linux alone')]);
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const installation = await install(
    [{ slug: 'one', check: { kind: 'root', url: 'http://127.0.0.1:9/' } }],
    {},
    { NODE_COMPILE_CACHE: join(folder, 'compiled') },
  );
  const start = () => cpuMs(async () => void (await (await installation.start()).stop()));
  const list = () => cpuMs(async () => void (await installation.run('keys', 'list')));
  const bare = () => cpuMs(async () => void spawnSync(process.execPath, ['--eval', '0']));
  const cold = await start();
  await list();
  const config = join(installation.folder, 'upbeat.yaml');
  const bundled = () => runAlone(planBundle().entry, config, folder);
  const plain = () => runAlone('src/cli/program.ts', config, folder);
  // Threads keep their compiled code a second after the start.
  await runAlone(planBundle().entry, config, folder, KEPT_MS);
  await plain();
  const rounds = { bare: [] as number[], list: [] as number[], start: [] as number[] };
  const alone = { bundled: [] as Use[], plain: [] as Use[] };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.bare.push(await bare());
    rounds.list.push(await list());
    rounds.start.push(await start());
    alone.bundled.push(await bundled());
    alone.plain.push(await plain());
  }
  installation.remove();
  rmSync(folder, { recursive: true });
  const [bareMs, listMs, startMs] = [median(rounds.bare), median(rounds.list), median(rounds.start)];
  const of = (uses: readonly Use[], what: keyof Use) => median(uses.map((use) => use[what]));
  const [plainMs, bundledMs] = [of(alone.plain, 'cpuMs'), of(alone.bundled, 'cpuMs')];
  const [plainMb, bundledMb] = [of(alone.plain, 'heldMb'), of(alone.bundled, 'heldMb')];
  return printRows([
    floor('start: node --eval 0, CPU', bareMs, 'ms'),
    ratioAtMost('start: keys list, CPU', listMs, 'ms', listMs / bareMs, 16),
    ratioAtMost('start: to ready and stopped, CPU', startMs, 'ms', startMs / bareMs, 27),
    floor('start: the same without compiled sources', cold, 'ms'),
    floor('start: the program from its sources, CPU', plainMs, 'ms'),
    ratioAtMost('start: the program from its bundle, CPU', bundledMs, 'ms', bundledMs / plainMs, 0.5),
    floor('start: the program from its sources, held', plainMb, 'MB'),
    ratioAtMost('start: the program from its bundle, held', bundledMb, 'MB', bundledMb / plainMb, 0.9),
  ]);
}

/** What a process used: its CPU time from its start to its end, and the memory that it held when it was ready. */
interface Use {
  readonly cpuMs: number;
  readonly heldMb: number;
}

/** Runs the program from an entry, without its parent; it is stopped `afterMs` after it was ready. */
async function runAlone(entry: string, config: string, compiled: string, afterMs = 0): Promise<Use> {
  const { execArgv, env } = planMemory(process.env, true, compiled);
  const before = cpuOfEndedChildren();
  const child = spawn(process.execPath, [...execArgv, entry, '--config', config], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env, UPBEAT_HTTP_PORT: '0' },
  });
  const ended = once(child, 'exit');
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (lines) => String(lines).includes('Upbeat is running at') && resolve());
  });
  await Promise.race([ready, ended]);
  const heldMb = memoryOf(child.pid ?? 0).rss / 1e6;
  await pause(afterMs);
  child.kill();
  await ended;
  return { cpuMs: (cpuOfEndedChildren() - before) / 1_000, heldMb };
}

/** CPU time of the processes that `work` starts and waits for, milliseconds. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = cpuOfEndedChildren();
  await work();
  return (cpuOfEndedChildren() - before) / 1_000;
}

if (import.meta.main) await run();
