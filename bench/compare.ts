/**
 * `npm run bench -- --compare [BASE] [SECTION...]` runs benchmarks on this tree and on another in turn, and tells what became
 * worse from what is noise. The other tree is a commit in a temporary work tree that shares this one's packages.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchRow } from './row.ts';
import { runApart } from './run-apart.ts';
import { type ComparedRow, compareRounds } from './verdict.ts';

const HERE = join(import.meta.dirname, '..');

/** What to compare. */
export interface Comparison {
  /** A commit, branch or tag. */
  readonly base: string;
  readonly sections: readonly string[];
  /** Runs of each tree, 5 or more: fewer cannot tell a difference from noise. */
  readonly rounds: number;
  /** The least change of a median that counts, as a ratio. */
  readonly bound: number;
}

/**
 * Prints a table for each section, and resolves to the rows that are worse. A section with such rows is measured once more
 * after it, and a row counts as worse only if both series say so.
 */
export async function compareTrees({
  base,
  sections,
  rounds,
  bound,
}: Comparison): Promise<readonly ComparedRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-base-'));
  const tree = join(folder, 'tree');
  git('worktree', 'add', '--quiet', '--detach', tree, base);
  const measured = async (section: string) => {
    const results = await measure(section, tree, rounds);
    return print(compareRounds(results.base, results.here, bound)).filter(
      ({ verdict }) => verdict === 'worse',
    );
  };
  try {
    symlinkSync(join(HERE, 'node_modules'), join(tree, 'node_modules'));
    const worse: ComparedRow[] = [];
    for (const section of sections) {
      console.log(`\n== ${section}, ${rounds} rounds each of ${base} and of this tree`);
      const first = await measured(section);
      if (first.length === 0) continue;
      console.log(`\n== ${section} once more, because of ${first.length} rows that look worse`);
      const again = await measured(section);
      worse.push(...again.filter(({ name }) => first.some((row) => row.name === name)));
    }
    return worse;
  } finally {
    git('worktree', 'remove', '--force', tree);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The commit to compare with by default: the branch `main`, or where this tree is at its commit, the commit itself. */
export function defaultBase(): string {
  try {
    return git('rev-parse', '--verify', '--quiet', 'main').trim();
  } catch {
    return 'HEAD';
  }
}

/** Runs a section in both trees in turn; the one that begins changes with each round, as does what the other leaves warm. */
async function measure(section: string, tree: string, rounds: number) {
  const results = { base: [] as BenchRow[][], here: [] as BenchRow[][] };
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? (['base', 'here'] as const) : (['here', 'base'] as const);
    for (const which of order)
      results[which].push(await runApart(section, which === 'base' ? tree : HERE, 'quiet'));
  }
  return results;
}

function print(rows: readonly ComparedRow[]): readonly ComparedRow[] {
  for (const { name, unit, base, here, change, verdict } of rows) {
    const figures = [base, here].map((value) => value.toPrecision(4).padStart(10)).join('');
    const percent = `${change < 0 ? '' : '+'}${(change * 100).toFixed(1)} %`.padStart(9);
    console.log(
      `${name.padEnd(64)} ${figures} ${unit.padEnd(18)} ${percent}  ${verdict === 'same' ? 'same within noise' : verdict.toUpperCase()}`,
    );
  }
  return rows;
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: HERE, encoding: 'utf8' });
}
