/** Runs test files in a process and reads from its TAP how each of them went. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** The result of one test file. */
export interface FileReport {
  readonly name: string;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What it printed; with other files in the process also their standard error. */
  readonly output: string;
}

/** What the process of one file printed, or the part of it that belongs to one of several files. */
interface Part {
  readonly name: string;
  readonly output: string;
  readonly durationMs: number;
  /** Whether the file came to its end. */
  readonly ended: boolean;
}

const ROOT = join(import.meta.dirname, '../..');
const QUICK_MODULES = join(import.meta.dirname, 'quick-modules.ts');
const RUN_TOGETHER = join(import.meta.dirname, 'run-together.ts');
/** Tests make much that lives for a moment: with more room for it, a tenth of their CPU time goes. */
const HEAPS = '--max-semi-space-size=64';
/** A process that runs longer is ended and has failed. The tests have limits of their own, which are shorter. */
const PROCESS_TIMEOUT_MS = 600_000;

/**
 * Runs files in one process, in their order; paths relative to the root. Where a file ends the process, those after it
 * have no report.
 */
export async function runGroup(
  files: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<FileReport[]> {
  const started = performance.now();
  const entry = files.length === 1 ? String(files[0]) : RUN_TOGETHER;
  const child = spawn(process.execPath, [HEAPS, '--import', QUICK_MODULES, entry], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, TEST_FILES: files.join(' ') },
    timeout: PROCESS_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [status] = await once(child, 'close');
  const durationMs = performance.now() - started;
  const found = files.length === 1 ? [] : splitOutput(output, durationMs);
  const parts = found.length > 0 ? found : [{ name: files[0] ?? '', output, durationMs, ended: true }];
  const reports = parts.map((part) => {
    const counts = countAssertions(part.output.split('\n'));
    return { ...part, ...counts, ok: part.ended && counts.failed === 0 };
  });
  // An error that no test caught came from any of the files that had begun: it fails them all.
  const isUnclear = (status !== 0 && reports.every(({ ok }) => ok)) || hasErrorOutside(output, files);
  return isUnclear ? reports.map((report) => ({ ...report, ok: false })) : reports;
}

/** Whether something other than a file of several has failed at the top of the TAP tree. */
function hasErrorOutside(output: string, files: readonly string[]): boolean {
  if (files.length === 1) return false;
  const failures = [...output.matchAll(/^not ok \d+ - (.*?)(?: # time=.*)?$/gm)];
  return failures.some(([, name = '']) => !files.includes(name));
}

/** The parts of the files that have begun. */
function splitOutput(output: string, processMs: number): Part[] {
  return output
    .split(/^(?=# Subtest: )/m)
    .slice(1)
    .map((part) => {
      const name = /^# Subtest: (.*)$/m.exec(part)?.[1] ?? '';
      const end = /^(?:not )?ok \d+ - .* # time=([\d.]+)(m?)s$/m.exec(part);
      const durationMs = end === null ? processMs : Number(end[1]) * (end[2] === 'm' ? 1 : 1_000);
      return { name, output: part, durationMs, ended: end !== null };
    });
}

/** Counts the leaves of a TAP tree: results that are not the summary of a subtest. */
function countAssertions(lines: readonly string[]): { passed: number; failed: number; skipped: number } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const line of lines) {
    const result = /^\s*(ok|not ok) \d+(?: - (.*))?$/.exec(line);
    if (result === null || / # time=/.test(line)) continue;
    if (/ # (?:SKIP|TODO)/i.test(line)) counts.skipped++;
    else if (result[1] === 'ok') counts.passed++;
    else counts.failed++;
  }
  return counts;
}
