/**
 * `npm test`: installs what the tests need, runs every test file and prints a line for each with its time, the whole
 * output of a file that fails, and one closing line with the counts. Small files share processes (see
 * `support/run-together.ts`); every other file has one of its own. A file that fails runs once more, in a process of its
 * own and with nothing beside it: the servers, browsers and threads of other files can take a small machine's time away.
 * A file that passes only then is named at the end, so that it gets mended.
 * The files run as plain programs, without the runner of tap: its hooks load every module a second time in each
 * process and each worker thread, which doubled the CPU time of a run. Async hooks, by which tap follows every promise,
 * took as much again in files with many promises: see `support/error-domain.ts`. Packages come from bundles, see
 * `support/quick-modules.ts`.
 * InfluxDB, VictoriaMetrics, PostgreSQL and Redis are started once, for every file that needs a healthy one. What is
 * written is kept in memory where there is enough of it.
 * Arguments are files or patterns: `npm test -- 'test/probe/*.test.ts'`. `--jobs=N` runs N files at a
 * time, by default as many as leave no processor idle; `--keep-durations`, on an idle machine and for all files, renews the list of the longest ones.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { planBundle } from '../src/cli/program-bundle.ts';
import { bundlePackages } from './support/bundle-packages.ts';
import { installServers, SERVER_PACKAGES } from './support/install-servers.ts';
import { writeToMemory } from './support/memory-folder.ts';
import { QUICK_PROGRAMS } from './support/quick-programs.ts';
import { type FileReport, runGroup } from './support/run-group.ts';
import { killMarkedProcesses, markRun } from './support/run-processes.ts';
import { startRunServers } from './support/run-servers.ts';

/** Test files that one process runs. */
type Group = readonly string[];

/** More failed processes than this are no matter of a busy machine. */
const MAX_SECOND_RUNS = 5;
/**
 * Where this part of the processors' time was idle and so much memory is free, another group begins, up to so many beside the usual
 * ones.
 */
const IDLE_PART = 0.1;
const MIN_FREE_BYTES = 2 * 1024 ** 3;
const MAX_EXTRA_JOBS = 10;
const IDLE_SPAN_MS = 1_500;
/** The limit of a test that states none, in seconds. */
const TEST_TIMEOUT_S = 300;
const insideCi = process.env.CI === 'true';
const ROOT = join(import.meta.dirname, '..');
/** Node.js keeps the compiled sources here, for the hundreds of processes that a run starts. */
const COMPILE_CACHE = join(ROOT, '.tap/compile-cache');
/** How long each file took when it last ran on this machine: `{ "test/log.test.ts": 1021 }`, in milliseconds. */
const DURATIONS_FILE = join(ROOT, '.tap/durations.json');
/** The same of the files that took longest on an idle machine, for a fresh clone. `--keep-durations` writes it. */
const SHIPPED_DURATIONS_FILE = join(ROOT, 'test/durations.json');
/** Files that take less are not in the list for a fresh clone. */
const MIN_LISTED_MS = 2_000;
/** Files that take less share a process, as many as take `MAX_GROUP_MS` together. */
const MAX_SMALL_MS = 30_000;
const MAX_GROUP_MS = 60_000;
/** Found in files that start programs or browsers, which take long. */
const STARTS_PROGRAMS = /support\/(?:program|cluster|browser|network-namespaces|small-disk)\.ts/;

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
  options: {
    jobs: { type: 'string' },
    'keep-durations': { type: 'boolean', default: false },
  },
});
const scope = { teardown: (end: () => unknown) => void ends.unshift(end) };
writeToMemory(scope);
const [servers] = await Promise.all([startRunServers(scope), bundleProgram(), bundlePackages()]);
const { first, second } = await runAll(planGroups(patterns)).finally(endServers);
const files = [...first.filter(({ ok }) => ok || second === null), ...(second ?? [])];
const sum = (of: 'passed' | 'failed' | 'skipped') => files.reduce((total, file) => total + file[of], 0);

for (const name of missing) console.log(`# SKIPPED the suites that need ${name}: apt-get install ${name}`);
const skipFails = insideCi && (sum('skipped') > 0 || missing.length > 0);
if (skipFails) console.log('# CI=true: a skipped test is a failure');
for (const { name, ok } of second ?? [])
  if (ok) console.log(`# UNSTEADY: ${name} failed beside others and passed alone`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exitCode = files.every(({ ok }) => ok) && sum('passed') > 0 && !skipFails ? 0 : 1;

/** Bundles the program once: otherwise each of the first ones to start would do so. */
async function bundleProgram(): Promise<void> {
  const { prepare } = planBundle();
  if (prepare !== null) await once(spawn(process.execPath, prepare, { stdio: 'ignore' }), 'exit');
}

async function endServers(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

/**
 * The test files of the patterns, grouped by the process that runs them: small ones in the order of their folders. What
 * took longest last time is first, so that it is not left running alone.
 */
function planGroups(patterns: readonly string[]): Group[] {
  const durations = { ...readDurations(SHIPPED_DURATIONS_FILE), ...readDurations() };
  const files = globSync(patterns.length > 0 ? patterns : 'test/**/*.test.ts', { cwd: ROOT }).sort();
  if (files.length === 0) throw new Error(`No file matches ${patterns.join(' ')}`);
  const groups: { files: string[]; durationMs: number }[] = [];
  /** Takes the next small files. */
  let open = { files: [] as string[], durationMs: Number.POSITIVE_INFINITY };
  for (const file of files) {
    const durationMs = durations[file] ?? guessDurationMs(file);
    const isSmall = durationMs < MAX_SMALL_MS;
    if (isSmall && open.durationMs + durationMs <= MAX_GROUP_MS) {
      open.files.push(file);
      open.durationMs += durationMs;
    } else {
      const group = { files: [file], durationMs };
      groups.push(group);
      if (isSmall) open = group;
    }
  }
  return groups.sort((a, b) => b.durationMs - a.durationMs).map((group) => group.files);
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

function guessDurationMs(file: string): number {
  return STARTS_PROGRAMS.test(readFileSync(join(ROOT, file), 'utf8')) ? 20_000 : 1_000;
}

/** Runs every file, and those that failed once more. `second`: null where no file ran again. */
async function runAll(groups: readonly Group[]) {
  // Tests wait as long as they compute: two more than the machine has cores.
  const { jobs = null } = options;
  const first =
    jobs === null
      ? await runGroups(groups, availableParallelism() + 2, MAX_EXTRA_JOBS)
      : await runGroups(groups, Number(jobs));
  const failed = first.filter(({ ok }) => !ok).map(({ name }) => name);
  const durations = Object.fromEntries(first.map(({ name, durationMs }) => [name, Math.round(durationMs)]));
  mkdirSync(dirname(DURATIONS_FILE), { recursive: true });
  writeFileSync(DURATIONS_FILE, JSON.stringify({ ...readDurations(), ...durations }));
  if (options['keep-durations'] && patterns.length === 0) writeShippedDurations(durations);
  const failedGroups = groups.filter((group) => group.some((file) => failed.includes(file))).length;
  const again = !terminated && failedGroups > 0 && failedGroups <= MAX_SECOND_RUNS;
  if (again) console.log(`# ${failed.length} failed; a second run with nothing beside: ${failed.join(', ')}`);
  const alone = failed.map((name) => [name]);
  return { first, second: again ? await runGroups(alone, 1) : null };
}

/**
 * Runs `jobs` groups at a time, and up to `extraJobs` more while processors are idle. Prints a line for each file and
 * everything that a failed file printed.
 */
async function runGroups(groups: readonly Group[], jobs: number, extraJobs = 0): Promise<FileReport[]> {
  const waiting = [...groups];
  const reports: FileReport[] = [];
  const runNext = async () => {
    const group = terminated ? undefined : waiting.shift();
    if (group === undefined) return false;
    reports.push(...(await runFiles(group)));
    return true;
  };
  const work = async () => {
    while (await runNext());
  };
  const workWhereIdle = async () => {
    const begun: Promise<unknown>[] = [];
    let running = 0;
    while (waiting.length > 0 && !terminated) {
      if (!(await isMachineIdle()) || running === extraJobs) continue;
      running++;
      begun.push(runNext().finally(() => running--));
    }
    await Promise.all(begun);
  };
  const works = Array.from({ length: jobs }, work);
  await Promise.all(extraJobs > 0 ? [...works, workWhereIdle()] : works);
  return reports;
}

/** Whether processors are idle for a good part of the next seconds, and memory is free. */
async function isMachineIdle(): Promise<boolean> {
  const before = processorTimes();
  await sleep(IDLE_SPAN_MS);
  const after = processorTimes();
  const isIdle = after.idle - before.idle > IDLE_PART * (after.all - before.all);
  return isIdle && process.availableMemory() >= MIN_FREE_BYTES;
}

/** What the processors have done since the machine began, milliseconds. */
function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = cpus().map(({ times }) => times);
  const idle = times.reduce((sum, time) => sum + time.idle, 0);
  return { idle, all: times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle) };
}

/** Runs the files of a group; those that the process of the others did not come to in a further one. */
async function runFiles(files: readonly string[]): Promise<FileReport[]> {
  const reports = await runGroup(files, {
    NODE_COMPILE_CACHE: COMPILE_CACHE,
    TAP_TIMEOUT: String(TEST_TIMEOUT_S),
    ...QUICK_PROGRAMS,
    ...process.env,
    ...servers,
  });
  for (const { name, ok, durationMs, output } of reports) {
    if (!ok) console.log(output);
    console.log(`${ok ? 'ok  ' : 'FAIL'}  ${name}  ${(durationMs / 1000).toFixed(1)} s`);
  }
  const left = files.slice(reports.length);
  return left.length === 0 || terminated ? reports : [...reports, ...(await runFiles(left))];
}
