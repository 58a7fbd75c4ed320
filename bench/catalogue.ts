/**
 * The first start with 100,000 or 1,000,000 services, in each form of YAML: `node bench/catalogue.ts [ENTRIES] [FORM...]`. The whole
 * program with its embedded stores, from an empty data directory until it is ready: time, CPU time of all its processes and threads, and
 * the highest memory.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readProcesses } from '../test/soak/million/process-report.ts';
import { install } from '../test/support/program.ts';
import { catalogueIn, FORMS } from './catalogue-forms.ts';
import { cpuOf } from './process-cpu.ts';
import { absent, atMost, type BenchRow, printRows } from './row.ts';

/** The longest time and the highest memory that are wanted, by the number of entries. */
const WANTED: ReadonlyMap<number, { readonly maxS: number; readonly maxMb: number }> = new Map([
  [100_000, { maxS: 6, maxMb: 400 }],
  [1_000_000, { maxS: 20, maxMb: 1_200 }],
]);
const READY_WITHIN_MS = 600_000;
/** Beside the best form. */
const MAX_RATIO = 2;

/** Starts the program once with each form. `entries`: 100,000 or 1,000,000. */
export async function run(
  names: readonly string[] = Object.keys(FORMS),
  entries = 100_000,
): Promise<readonly BenchRow[]> {
  const wanted = WANTED.get(entries);
  if (wanted === undefined)
    throw new RangeError(`${entries} entries: choose one of ${[...WANTED.keys()].join(', ')}`);
  if (process.platform !== 'linux') return printRows([absent('first start', 'measured on Linux alone')]);
  // What is compiled once for all starts is not counted.
  await startWith('services: []\n');
  const rows: BenchRow[] = [];
  let bestS = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const form = FORMS[name];
    if (form === undefined) continue;
    const { seconds, cpuS, peakMb } = await startWith(catalogueIn(form, entries));
    bestS = Math.min(bestS, cpuS);
    const what = `first start with ${entries.toLocaleString('en')} services, ${name}`;
    rows.push(
      ...printRows([
        atMost(`${what}: ready`, seconds, 's', wanted.maxS),
        atMost(`${what}: CPU`, cpuS, 's', bestS * MAX_RATIO, cpuS / bestS),
        atMost(`${what}: memory`, peakMb, 'MB', wanted.maxMb),
      ]),
    );
  }
  return rows;
}

async function startWith(catalogue: string) {
  const installation = await install([], { checks: { interval: '24h', firstSpread: '60s' } });
  try {
    writeFileSync(join(installation.folder, 'catalogue.yaml'), catalogue);
    const began = performance.now();
    const program = await installation.start(undefined, READY_WITHIN_MS);
    const seconds = (performance.now() - began) / 1_000;
    const pid = program.process.pid ?? 0;
    const cpuS = cpuOf(pid);
    const { peakBytes } = readProcesses(pid);
    await program.stop();
    return { seconds, cpuS, peakMb: peakBytes / 1e6 };
  } finally {
    installation.remove();
  }
}

if (import.meta.main) {
  const [first = '', ...others] = process.argv.slice(2);
  const entries = Number(first);
  const names = Number.isNaN(entries) ? [first, ...others] : others;
  await run(names.length === 0 ? undefined : names, entries || undefined);
}
