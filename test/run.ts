/**
 * `npm test`: installs what the tests need, runs every test file by tap and prints a line for each with its time,
 * the whole story of a failure, and one closing line with the counts. A file that fails runs once more with nothing
 * beside it: the servers, browsers and threads of other files can take a small machine's time away. What passes only
 * then is named at the end, so that it is mended and not forgotten.
 * InfluxDB, VictoriaMetrics and Redis are started once, for every file that needs a healthy one.
 * Arguments are handed to tap: `npm test -- test/probe/*.test.ts`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { installServers, SERVER_PACKAGES } from './support/install-servers.ts';
import { killMarkedProcesses, markRun } from './support/run-processes.ts';
import { startRunServers } from './support/run-servers.ts';

/** What one test file said. */
interface FileReport {
  readonly name: string;
  readonly ok: boolean;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** More failures than this are no matter of a busy machine. */
const MAX_SECOND_RUNS = 5;
const insideCi = process.env.CI === 'true';
/** Node.js keeps here what it has made of the sources, for the hundreds of processes that a run starts. */
const COMPILE_CACHE = join(import.meta.dirname, '../.tap/compile-cache');

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
await buildTap();
const servers = await startRunServers({ teardown: (end) => void ends.unshift(end) });
const { first, second } = await runAll(process.argv.slice(2)).finally(endServers);
const files = [...first.files.filter(({ ok }) => ok || second === null), ...(second?.files ?? [])];
const sum = (of: 'passed' | 'failed' | 'skipped') => files.reduce((total, file) => total + file[of], 0);

for (const name of missing) console.log(`# SKIPPED the suites that need ${name}: apt-get install ${name}`);
const skipFails = insideCi && (sum('skipped') > 0 || missing.length > 0);
if (skipFails) console.log('# CI=true: a skipped test is a failure');
for (const { name, ok } of second?.files ?? [])
  if (ok) console.log(`# UNSTEADY: ${name} failed beside others and passed alone`);
console.log(`${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
const endedWell = (second ?? first).status === 0 && files.every(({ ok }) => ok);
process.exitCode = endedWell && sum('failed') === 0 && sum('passed') > 0 && !skipFails ? 0 : 1;

async function endServers(): Promise<void> {
  for (const end of ends.splice(0)) await end();
}

/** Builds tap with the plugins of `.taprc`, which takes ten seconds, unless that was done since the last install. */
async function buildTap(): Promise<void> {
  const root = join(import.meta.dirname, '..');
  // `npm ci` empties the folder, and the stamp goes with what it speaks of.
  const stamp = join(root, 'node_modules/.tap-built');
  const plugins = readFileSync(join(root, '.taprc'), 'utf8');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === plugins) return;
  await run('tap', ['build'], 'ignore');
  writeFileSync(stamp, plugins);
}

/** Runs every file, and those that failed once more. */
async function runAll(args: readonly string[]) {
  const first = await runTests(args);
  const failed = first.files.filter(({ ok }) => !ok).map(({ name }) => name);
  const again =
    !terminated &&
    failed.length > 0 &&
    failed.length <= MAX_SECOND_RUNS &&
    failed.every((name) => /\.test\.ts$/.test(name));
  if (again) console.log(`# ${failed.length} failed; a second run with nothing beside: ${failed.join(', ')}`);
  return { first, second: again ? await runTests(['--jobs=1', ...failed]) : null };
}

/** Runs tap, prints a line for each file and everything that a failed file said. */
async function runTests(args: readonly string[]): Promise<{ status: number; files: FileReport[] }> {
  const tap = spawn('tap', ['run', '--reporter=tap', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...servers },
  });
  const ended = once(tap, 'exit');
  const files: FileReport[] = [];
  let story: string[] = [];
  for await (const line of createInterface({ input: tap.stdout })) {
    const file = /^(ok|not ok) \d+ - (.+?)(?: # time=([\d.]+)ms)?(?: \{)?$/.exec(line);
    if (file === null) {
      story.push(line);
      continue;
    }
    const [, verdict, name = '', ms = '0'] = file;
    files.push({ name, ok: verdict === 'ok', ...countAssertions(story) });
    if (verdict === 'ok') {
      console.log(`ok    ${name}  ${(Number(ms) / 1000).toFixed(1)} s`);
    } else {
      console.log(story.join('\n'));
      console.log(`FAIL  ${name}`);
    }
    story = [];
  }
  // What follows the last file is tap's own word; a file that told its failure late is found there.
  if (story.some((line) => line.includes('fail:'))) console.log(story.join('\n'));
  const [code] = await ended;
  return { status: code ?? 1, files };
}

/** Counts the leaves of a TAP tree: indented results that are not the summary of a subtest. */
function countAssertions(lines: readonly string[]): { passed: number; failed: number; skipped: number } {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const line of lines) {
    const result = /^\s+(ok|not ok) \d+(?: - (.*))?$/.exec(line);
    if (result === null || / # time=/.test(line)) continue;
    if (/ # (?:SKIP|TODO)/i.test(line)) counts.skipped++;
    else if (result[1] === 'ok') counts.passed++;
    else counts.failed++;
  }
  return counts;
}

async function run(command: string, args: readonly string[], stdout: 'ignore' | 'inherit'): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', stdout, 'inherit'] });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
