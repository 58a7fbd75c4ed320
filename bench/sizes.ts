/**
 * What grows with the fleet: the whole program with its embedded stores and 1,000 to 1,000,000 services from a catalogue file, a check of
 * each every five minutes: `node bench/sizes.ts`. Takes about 12 minutes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BenchRow, floor, printRows } from './row.ts';

/** The sizes, in services. */
export const SIZES = [1_000, 10_000, 100_000, 1_000_000] as const;

/** What is measured at each size, as the report of `test/soak/million.ts` calls it, and its unit. */
export const FIGURES = [
  { name: 'ready', of: 'ready, seconds', unit: 's' },
  { name: 'memory, all processes', of: 'memory, MB', unit: 'MB' },
  { name: 'CPU of all processes', of: 'CPU, seconds a second', unit: 's a second' },
  { name: 'CPU of all processes for a check', of: 'CPU for a check, µs', unit: 'µs' },
  { name: 'start delay, p99 of the worst second', of: 'start delay, worst p99 of a second, ms', unit: 'ms' },
  { name: 'a status', of: 'GET /api/v1/status/:slug, ms', unit: 'ms' },
  { name: 'page of the list', of: 'list, again, ms', unit: 'ms' },
  { name: 'page of a category', of: 'list of a category, again, ms', unit: 'ms' },
  { name: 'page by response time', of: 'list by response time, first, ms', unit: 'ms' },
  { name: 'page by response time, again', of: 'list by response time, again, ms', unit: 'ms' },
  { name: 'search', of: 'search, first, ms', unit: 'ms' },
  { name: 'search, again', of: 'search, again, ms', unit: 'ms' },
  { name: 'home page', of: 'home, again, ms', unit: 'ms' },
  { name: 'incidents', of: 'incidents, again, ms', unit: 'ms' },
  { name: 'feed of incidents', of: 'feed of incidents, again, ms', unit: 'ms' },
  { name: 'metrics', of: 'metrics, again, ms', unit: 'ms' },
  { name: 'a change of 1,000 entries of the catalogue', of: 'a change of 1000 entries, seconds', unit: 's' },
] as const;

/** The name of the row of a figure at a size. */
export function nameOf(services: number, figure: string): string {
  return `${services.toLocaleString('en')} services: ${figure}`;
}

/** Runs the program at each size, one after the other. Throws if a run ends without its figures. */
export async function run(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const rows: BenchRow[] = [];
  try {
    for (const services of SIZES) {
      const report = join(folder, `${services}.json`);
      const args = ['--services', String(services), '--minutes', '0.5', '--report', report];
      const trial = spawn(
        process.execPath,
        [join(import.meta.dirname, '../test/soak/million.ts'), ...args],
        // It prints its verdict on targets, too; here are the figures.
        { stdio: ['ignore', 'inherit', 'inherit'] },
      );
      await once(trial, 'exit');
      const { figures } = JSON.parse(readFileSync(report, 'utf8')) as { figures: Record<string, number> };
      rows.push(
        ...FIGURES.flatMap(({ name, of, unit }) => {
          const value = figures[of];
          return value === undefined ? [] : [floor(nameOf(services, name), value, unit)];
        }),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return printRows(rows);
}

if (import.meta.main) await run();
