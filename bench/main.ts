/**
 * `npm run bench`: every benchmark one after the other, one table, and the figures as JSON in
 * `bench/results/latest.local.json`. `npm run bench -- api samples` runs some of them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../src/version.ts';
import type { BenchRow } from './row.ts';

const SECTIONS: Readonly<Record<string, () => Promise<{ run(): Promise<BenchRow[]> }>>> = {
  'check-cost': () => import('./check-cost.ts'),
  truth: () => import('./truth.ts'),
  scheduling: () => import('./scheduling.ts'),
  samples: () => import('./samples.ts'),
  api: () => import('./api.ts'),
  badge: () => import('./badge.ts'),
  heartbeats: () => import('./heartbeats.ts'),
  incidents: () => import('./incidents.ts'),
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in SECTIONS));
if (unknown.length > 0) {
  console.error(
    `There is no benchmark ${unknown.join(', ')}; there are ${Object.keys(SECTIONS).join(', ')}.`,
  );
  process.exit(2);
}
console.log(
  `Upbeat ${VERSION}, Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`,
);
const rows: BenchRow[] = [];
for (const [name, load] of Object.entries(SECTIONS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== ${name}`);
  rows.push(...(await (await load()).run()));
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
