/**
 * The first reading of a catalogue of 100,000 entries, in each form of YAML: `node bench/catalogue.ts`. Beside it the parser alone, which
 * reads the same text as a whole. Each reading is a separate process, which runs this file with the way to read and the file.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scanCatalogue } from '../src/catalogue/scan-catalogue.ts';
import { readYaml } from '../src/yaml-file.ts';
import { startHelper } from './child.ts';
import { atMost, type BenchRow, median, printRows, ratioAtMost } from './row.ts';

const ENTRIES = 100_000;
const ROUNDS = 3;
const MAX_MB = 400;
/** The parser alone keeps no services, and knows nothing of their rules. */
const MAX_RATIO = 3;

const url = (index: number) => `"http://127.0.0.1:9001/${index}"`;
const lines = (index: number) =>
  `  - slug: service-${index}\n    name: Service ${index}\n    domain: s${index}.example.com\n    category: developer\n`;
const FORMS: Readonly<Record<string, (index: number) => string>> = {
  'a member in a line': (index) => `${lines(index)}    check:\n      url: ${url(index)}\n`,
  'checks in braces': (index) => `${lines(index)}    check: { url: ${url(index)} }\n`,
  'entries in braces': (index) =>
    `  - { slug: service-${index}, name: Service ${index}, domain: s${index}.example.com, category: developer, check: { url: ${url(index)} } }\n`,
  anchors: (index) => `${lines(index)}    check: &check${index}\n      url: ${url(index)}\n`,
};

interface Reading {
  readonly ms: number;
  /** The highest memory of the process, MB. */
  readonly peakMb: number;
}

/** Runs the benchmark. */
export async function run(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const rows: BenchRow[] = [];
  try {
    for (const [name, write] of Object.entries(FORMS)) {
      const file = join(folder, 'catalogue.yaml');
      writeFileSync(
        file,
        `services:\n${Array.from({ length: ENTRIES }, (_, index) => write(index)).join('')}`,
      );
      const ours: Reading[] = [];
      const whole: Reading[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        ours.push(await readApart('parts', file));
        whole.push(await readApart('whole', file));
      }
      const [ms, wholeMs] = [ours, whole].map((readings) => median(readings.map((reading) => reading.ms)));
      const what = `catalogue of 100,000, ${name}`;
      rows.push(
        ratioAtMost(
          `${what}, beside the parser alone`,
          ms ?? Number.NaN,
          'ms',
          (ms ?? Number.NaN) / (wholeMs ?? 0),
          MAX_RATIO,
        ),
        atMost(`${what}, memory`, Math.max(...ours.map(({ peakMb }) => peakMb)), 'MB', MAX_MB),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return printRows(rows);
}

async function readApart(way: 'parts' | 'whole', file: string): Promise<Reading> {
  const helper = await startHelper<Reading>('catalogue.ts', [way, file]);
  helper.stop();
  return helper.line;
}

async function read(way: string, file: string): Promise<Reading> {
  const startedMs = performance.now();
  if (way === 'whole') readYaml(readFileSync(file, 'utf8'), file);
  else if ((await scanCatalogue(file, 'all')).pages === null) throw new Error('it was not read in parts');
  return {
    ms: performance.now() - startedMs,
    peakMb: process.resourceUsage().maxRSS / 1_000,
  };
}

if (import.meta.main) {
  const [way, file] = process.argv.slice(2);
  if (way === undefined || file === undefined) await run();
  else console.log(JSON.stringify(await read(way, file)));
}
