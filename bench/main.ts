/**
 * `npm run bench` runs every benchmark, one after the other, each in a process of its own, prints a table and writes the
 * figures to `bench/results/latest.local.json`. `npm run bench -- api samples` runs some of them.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../src/version.ts';
import type { BenchRow } from './row.ts';

/** Each is a file beside this one that exports `run`. */
const SECTIONS = [
  'check-cost',
  'truth',
  'scheduling',
  'start',
  'apply',
  'memory',
  'samples',
  'api',
  'events',
  'badge',
  'pages',
  'heartbeats',
  'writes',
  'incidents',
  'alerts',
  'feeds',
  'redis',
  'postgres',
  'handout',
  'results',
  'following',
  'cluster',
  'influx',
];

const wanted = process.argv.slice(2);
if (process.send !== undefined) await runSection(wanted[0] ?? '');
else await runAll();

/** Runs one benchmark and sends its rows to the parent. */
async function runSection(name: string): Promise<void> {
  const section = (await import(`./${name}.ts`)) as { run(): Promise<readonly BenchRow[]> };
  const rows = await section.run();
  process.send?.(rows, () => process.disconnect());
}

async function runAll(): Promise<void> {
  const unknown = wanted.filter((name) => !SECTIONS.includes(name));
  if (unknown.length > 0) {
    console.error(`There is no benchmark ${unknown.join(', ')}; there are ${SECTIONS.join(', ')}.`);
    process.exit(2);
  }
  console.log(
    `Upbeat ${VERSION}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  const rows: BenchRow[] = [];
  for (const name of SECTIONS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n== ${name}`);
    rows.push(...(await runApart(name)));
  }
  const missed = rows.filter(({ reached }) => reached === false);
  console.log(
    `\n${rows.length} figures, ${missed.length} targets missed${missed.map(({ name }) => `\n  ${name}`).join('')}`,
  );
  const folder = join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model };
  const at = new Date().toISOString();
  writeFileSync(
    join(folder, 'latest.local.json'),
    `${JSON.stringify({ at, version: VERSION, machine, rows }, null, 2)}\n`,
  );
}

/** Runs a benchmark in a process of its own. Rejects if it ends without its figures. */
async function runApart(name: string): Promise<BenchRow[]> {
  const child = fork(import.meta.filename, [name]);
  let figures: BenchRow[] | null = null;
  child.on('message', (message: BenchRow[]) => {
    figures = message;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (figures === null) throw new Error(`the benchmark ${name} ended with code ${code} and no figures`);
  return figures;
}
