/**
 * `npm test`: installs what the tests need, runs every test file by tap and prints a line for each with its time,
 * the whole story of a failure, and one closing line with the counts.
 * Arguments are handed to tap: `npm test -- test/probe`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { installServers, SERVER_PACKAGES } from './support/install-servers.ts';

const counts = { passed: 0, failed: 0, skipped: 0 };
const insideCi = process.env.CI === 'true';

const missing = await installServers(SERVER_PACKAGES);
await run('tap', ['build'], 'ignore');
const tap = spawn('tap', ['run', '--reporter=tap', ...process.argv.slice(2)], {
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, UPBEAT_TEST_MISSING: missing.join(',') },
});
await report(tap.stdout);
const [code] = await (tap.exitCode === null ? once(tap, 'exit') : [tap.exitCode]);
for (const name of missing) console.log(`# SKIPPED the suites that need ${name}: apt-get install ${name}`);
const skipFails = insideCi && (counts.skipped > 0 || missing.length > 0);
if (skipFails) console.log('# CI=true: a skipped test is a failure');
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exitCode = code !== 0 || counts.failed > 0 || counts.passed === 0 || skipFails ? 1 : 0;

/** Prints a line for each file, and everything that a failed file said. Counts the assertions of all files. */
async function report(output: NodeJS.ReadableStream): Promise<void> {
  let story: string[] = [];
  for await (const line of createInterface({ input: output })) {
    countAssertion(line);
    const file = /^(ok|not ok) \d+ - (.+?)(?: # time=([\d.]+)ms)?(?: \{)?$/.exec(line);
    if (file === null) {
      story.push(line);
      continue;
    }
    if (file[1] === 'not ok') {
      // The story of a failed file follows its line in a diagnostic block; what came before is its own output.
      console.log(story.join('\n'));
      console.log(`FAIL  ${file[2]}`);
    } else {
      console.log(`ok    ${file[2]}  ${(Number(file[3] ?? 0) / 1000).toFixed(1)} s`);
    }
    story = [];
  }
  if (story.some((line) => line.includes('fail:'))) console.log(story.join('\n'));
}

/** Counts a leaf of the TAP tree: an indented result that is not the summary of a subtest. */
function countAssertion(line: string): void {
  const result = /^\s+(ok|not ok) \d+(?: - (.*))?$/.exec(line);
  if (result === null || / # time=/.test(line)) return;
  if (/ # (?:SKIP|TODO)/i.test(line)) counts.skipped++;
  else if (result[1] === 'ok') counts.passed++;
  else counts.failed++;
}

async function run(command: string, args: readonly string[], stdout: 'ignore' | 'inherit'): Promise<void> {
  const child = spawn(command, args, { stdio: ['ignore', stdout, 'inherit'] });
  const [status] = await once(child, 'exit');
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}
