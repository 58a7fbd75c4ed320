/**
 * `npm run bench` runs every benchmark, one after the other, each in a process of its own, prints a table and writes the
 * figures to `bench/results/latest.local.json`. `npm run bench -- api samples` runs some of them. With `--baseline` the figures
 * become those of the documentation, all of them or those of some benchmarks; `--draw` renews its tables and curves from them, and `--compare [BASE]` compares this tree
 * with another.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { VERSION } from '../src/version.ts';
import { type Comparison, compareTrees, defaultBase } from './compare.ts';
import { BASELINE, type BenchRun, documentBaseline, renewSections, type SectionRow } from './document.ts';
import { absent, type BenchRow, printRows } from './row.ts';
import { runApart } from './run-apart.ts';
import { MIN_CHANGE } from './verdict.ts';

/** Each is a file beside this one that exports `run`. */
const SECTIONS = [
  'check-cost',
  'truth',
  'scheduling',
  'idle',
  'rate',
  'start',
  'apply',
  'catalogue',
  'memory',
  'samples',
  'api',
  'events',
  'badge',
  'heatmap',
  'pages',
  'heartbeats',
  'writes',
  'incidents',
  'alerts',
  'feeds',
  'redis',
  'postgres',
  'far-heartbeats',
  'handout',
  'results',
  'following',
  'cluster',
  'influx',
  'sizes',
];

/** Rounds of a comparison by default. */
const ROUNDS = 5;

if (process.send !== undefined) await runSection(process.argv[2] ?? '');
else await runCommand();

/** Runs one benchmark and sends its rows to the parent. */
async function runSection(name: string): Promise<void> {
  const section = (await import(`./${name}.ts`)) as { run(): Promise<readonly BenchRow[]> };
  const rows = await section.run();
  process.send?.(rows, () => process.disconnect());
}

async function runCommand(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      compare: { type: 'boolean', default: false },
      rounds: { type: 'string', default: String(ROUNDS) },
      bound: { type: 'string', default: String(MIN_CHANGE * 100) },
      baseline: { type: 'boolean', default: false },
      draw: { type: 'boolean', default: false },
    },
  });
  if (values.draw) {
    documentBaseline();
    return;
  }
  const unknown = positionals.filter((name) => !SECTIONS.includes(name));
  const sections = SECTIONS.filter(
    (name) => positionals.length === unknown.length || positionals.includes(name),
  );
  if (unknown.length > (values.compare ? 1 : 0)) {
    console.error(`There is no benchmark ${unknown.join(', ')}; there are ${SECTIONS.join(', ')}.`);
    process.exit(2);
  }
  console.log(
    `Upbeat ${VERSION}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`,
  );
  const [rounds, bound] = [Number(values.rounds), Number(values.bound) / 100];
  if (values.compare) await compare({ base: unknown[0] ?? defaultBase(), sections, rounds, bound });
  else await runAll(sections, values.baseline);
}

/** Compares this tree with another; status 1: something is worse. */
async function compare(comparison: Comparison): Promise<void> {
  const { base, rounds, bound } = comparison;
  if (!Number.isInteger(rounds) || rounds < ROUNDS) {
    console.error(`--rounds is a whole number from ${ROUNDS}: fewer cannot tell a difference from noise.`);
    process.exit(2);
  }
  if (!(bound > 0)) {
    console.error('--bound is a number of percent greater than 0.');
    process.exit(2);
  }
  const worse = await compareTrees(comparison);
  console.log(
    `\n${worse.length} rows are worse than at ${base}${worse.map(({ name }) => `\n  ${name}`).join('')}`,
  );
  process.exitCode = worse.length > 0 ? 1 : 0;
}

async function runAll(sections: readonly string[], isBaseline: boolean): Promise<void> {
  const rows: SectionRow[] = [];
  for (const section of sections) {
    console.log(`\n== ${section}`);
    rows.push(...(await runApart(section).catch(toAbsent)).map((row) => ({ section, ...row })));
  }
  const missed = rows.filter(({ reached }) => reached === false);
  console.log(
    `\n${rows.length} figures, ${missed.length} targets missed${missed.map(({ name }) => `\n  ${name}`).join('')}`,
  );
  const machine = { node: process.version, processors: cpus().length, model: cpus()[0]?.model ?? 'unknown' };
  const run: BenchRun = { at: new Date().toISOString(), version: VERSION, machine, rows };
  mkdirSync(join(BASELINE, '..'), { recursive: true });
  if (!isBaseline) {
    store(join(BASELINE, '../latest.local.json'), run);
    return;
  }
  const isWhole = sections.length === SECTIONS.length;
  store(BASELINE, isWhole ? run : renewSections(JSON.parse(readFileSync(BASELINE, 'utf8')) as BenchRun, run));
  documentBaseline();
}

function store(file: string, run: BenchRun): void {
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`);
}

/** The row of a benchmark that failed: the others are measured all the same. */
function toAbsent(error: Error): BenchRow[] {
  process.exitCode = 1;
  return [...printRows([absent('all figures', error.message)])];
}
