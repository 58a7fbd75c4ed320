/** Runs a benchmark in a process of its own. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { BenchRow } from './row.ts';

/**
 * Runs a section of the benchmarks of a tree, this one by default. `quiet`: it does not print its own table. Rejects if it ends
 * without its figures.
 */
export async function runApart(
  section: string,
  tree = join(import.meta.dirname, '..'),
  output: 'inherit' | 'quiet' = 'inherit',
): Promise<BenchRow[]> {
  const child = fork(join(tree, 'bench/main.ts'), [section], {
    cwd: tree,
    stdio: ['inherit', output === 'quiet' ? 'ignore' : 'inherit', 'inherit', 'ipc'],
  });
  let figures: BenchRow[] | null = null;
  child.on('message', (message: BenchRow[]) => {
    figures = message;
  });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (figures === null) throw new Error(`the benchmark ${section} ended with code ${code} and no figures`);
  return figures;
}
