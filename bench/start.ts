/**
 * What a start and a command cost: `node bench/start.ts`. It is the CPU time of all their processes and threads; that of a
 * start ends with the stop that follows as soon as the program is ready. The catalogue has one service and no vendor.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { install } from '../test/support/program.ts';
import { cpuOfEndedChildren } from './peers.ts';
import { absent, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';

const ROUNDS = 5;

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
  const rounds = { bare: [] as number[], list: [] as number[], start: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    rounds.bare.push(await bare());
    rounds.list.push(await list());
    rounds.start.push(await start());
  }
  installation.remove();
  rmSync(folder, { recursive: true });
  const [bareMs, listMs, startMs] = [median(rounds.bare), median(rounds.list), median(rounds.start)];
  return printRows([
    floor('start: node --eval 0, CPU', bareMs, 'ms'),
    ratioAtMost('start: keys list, CPU', listMs, 'ms', listMs / bareMs, 16),
    ratioAtMost('start: to ready and stopped, CPU', startMs, 'ms', startMs / bareMs, 55),
    floor('start: the same without compiled sources', cold, 'ms'),
  ]);
}

/** CPU time of the processes that `work` starts and waits for, milliseconds. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = cpuOfEndedChildren();
  await work();
  return (cpuOfEndedChildren() - before) / 1_000;
}

if (import.meta.main) await run();
