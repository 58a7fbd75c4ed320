/**
 * `npm test`: installs what the tests need, runs every test file in a process of its own and prints a line for each
 * with its time, the whole output of a file that fails, and one closing line with the counts. A file that fails runs
 * once more with nothing beside it: the servers, browsers and threads of other files can take a small machine's time
 * away. A file that passes only then is named at the end, so that it gets mended.
 * The files run as plain programs, without the runner of tap: its hooks load every module a second time in each
 * process and each worker thread, which doubled the CPU time of a run. Async hooks, by which tap follows every promise,
 * took as much again in files with many promises: see `support/spare-async-hooks.ts`.
 * InfluxDB, VictoriaMetrics and Redis are started once, for every file that needs a healthy one.
 * Arguments are files or patterns: `npm test -- 'test/probe/*.test.ts'`. `--jobs=N` runs N files at a time;
 * `--keep-durations`, on an idle machine and for all files, renews the list of the longest ones.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { installServers, SERVER_PACKAGES } from './support/install-servers.ts';
import { killMarkedProcesses, markRun } from './support/run-processes.ts';
import { startRunServers } from './support/run-servers.ts';

/** The result of one test file. */
interface FileReport {
  readonly name: string;
  readonly ok: boolean;
  readonly durationMs: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** More failures than this are no matter of a busy machine. */
const MAX_SECOND_RUNS = 5;
/** A file that runs longer is ended and has failed. Its tests have limits of their own, which are shorter. */
const FILE_TIMEOUT_MS = 600_000;
/** The limit of a test that states none, in seconds. */
const TEST_TIMEOUT_S = 300;
const insideCi = process.env.CI === 'true';
const ROOT = join(import.meta.dirname, '..');
/** Node.js keeps the compiled sources here, for the hundreds of processes that a run starts. */
const COMPILE_CACHE = join(ROOT, '.tap/compile-cache');
const SPARE_ASYNC_HOOKS = join(ROOT, 'test/support/spare-async-hooks.ts');
/** How long each file took when it last ran on this machine: `{ "test/log.test.ts": 1021 }`, in milliseconds. */
const DURATIONS_FILE = join(ROOT, '.tap/durations.json');
/** The same of the files that took longest on an idle machine, for a fresh clone. `--keep-durations` writes it. */
const SHIPPED_DURATIONS_FILE = join(ROOT, 'test/durations.json');
/** Files that take less are not in the list for a fresh clone. */
const MIN_LISTED_MS = 2_000;

const mark = markRun();
const ends: (() => unknown)[] = [];
/** A signal has ended the run: nothing is started any more. */
let terminated = false;
for (const [signal, status] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => {
    terminated = true;
    killMarkedProcesses(mark);
    void endServers().finally(() => process.exit(status));
  });
const missing = await installServers(SERVER_PACKAGES);
const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  // Tests wait nearly as long as they compute: two more than the machine has cores.
  options: {
    jobs: { type: 'string', default: String(availableParallelism() + 2) },
    'keep-durations': { type: 'boolean', default: false },
  },
});
const servers = await startRunServers({ teardown: (end) => void ends.unshift(end) });
const { first, second } = await runAll(findFiles(patterns)).finally(endServers);
const files = [...first.filter(({ ok }) => ok || second === null), ...(second ?? [])];
const sum = (of: 'passed' | 'failed' | 'skipped') => files.reduce((total, file) => total + file[of], 0);

for (const name of missing) console.log(`# SKIPPED the suites that need ${name}: apt-get install ${name}`);
const skipFails = insideCi && (sum('skipped') > 0 || missing.length > 0);
if (skipFails) console.log('# CI=true: a skipped test is a failure');
for (const { name, ok } of second ?? [])
  if (ok) console.log(`# UNSTEADY: ${name} failed beside others and passed alone`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exitCode = files.every(({ ok }) => ok) && sum('passed') > 0 && !skipFails ? 0 : 1;

async function endServers(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

/** The test files of the patterns, those that took longest last time first, so that none is left running alone. */
function findFiles(patterns: readonly string[]): string[] {
  const durations = { ...readDurations(SHIPPED_DURATIONS_FILE), ...readDurations() };
  const files = globSync(patterns.length > 0 ? patterns : 'test/**/*.test.ts', { cwd: ROOT });
  if (files.length === 0) throw new Error(`No file matches ${patterns.join(' ')}`);
  const longest = (file: string) => durations[file] ?? guessDurationMs(file);
  return files.sort((a, b) => longest(b) - longest(a) || a.localeCompare(b));
}

function readDurations(file = DURATIONS_FILE): Readonly<Record<string, number>> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Writes the list for a fresh clone, longest first. */
function writeShippedDurations(durations: Readonly<Record<string, number>>): void {
  const listed = Object.entries(durations)
    .filter(([, durationMs]) => durationMs >= MIN_LISTED_MS)
    .map(([file, durationMs]) => [file, Math.round(durationMs / 100) * 100] as const)
    .sort(([, a], [, b]) => b - a);
  writeFileSync(SHIPPED_DURATIONS_FILE, `${JSON.stringify(Object.fromEntries(listed), null, 2)}\n`);
}

/** What starts programs, servers or browsers takes long. */
function guessDurationMs(file: string): number {
  return /support\/(?:program|browser|network-namespaces|small-disk)\.ts/.test(
    readFileSync(join(ROOT, file), 'utf8'),
  )
    ? 20_000
    : 1_000;
}

/** Runs every file, and those that failed once more. `second`: null where no file ran again. */
async function runAll(files: readonly string[]) {
  const first = await runFiles(files, Number(options.jobs));
  const failed = first.filter(({ ok }) => !ok).map(({ name }) => name);
  const durations = Object.fromEntries(first.map(({ name, durationMs }) => [name, Math.round(durationMs)]));
  mkdirSync(dirname(DURATIONS_FILE), { recursive: true });
  writeFileSync(DURATIONS_FILE, JSON.stringify({ ...readDurations(), ...durations }));
  if (options['keep-durations'] && patterns.length === 0) writeShippedDurations(durations);
  const again = !terminated && failed.length > 0 && failed.length <= MAX_SECOND_RUNS;
  if (again) console.log(`# ${failed.length} failed; a second run with nothing beside: ${failed.join(', ')}`);
  return { first, second: again ? await runFiles(failed, 1) : null };
}

/** Runs `jobs` files at a time. Prints a line for each and everything that a failed file printed. */
async function runFiles(files: readonly string[], jobs: number): Promise<FileReport[]> {
  const waiting = [...files];
  const reports: FileReport[] = [];
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined && !terminated; file = waiting.shift())
      reports.push(await runFile(file));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return reports;
}

async function runFile(name: string): Promise<FileReport> {
  const started = performance.now();
  const child = spawn(process.execPath, ['--import', SPARE_ASYNC_HOOKS, name], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TAP_TIMEOUT: String(TEST_TIMEOUT_S),
      ...process.env,
      ...servers,
    },
    timeout: FILE_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk));
  const [status] = await once(child, 'close');
  const durationMs = performance.now() - started;
  const counts = countAssertions(output.split('\n'));
  const ok = status === 0 && counts.failed === 0;
  if (!ok) console.log(output);
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${(durationMs / 1000).toFixed(1)} s`);
  return { name, ok, durationMs, ...counts };
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
