/**
 * `npm run check:readme`: runs what the README tells people to run. The program is started from this checkout on a free
 * port with a data directory of its own; every `curl` and `npx upbeat` line of the README must succeed against it,
 * and every other npm script that it names must exist.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './support/free-port.ts';

const ROOT = join(import.meta.dirname, '..');
const START = 'npm ci && npm start';
/** Long or endless commands that other checks run, or that need a person. */
const RUN_ELSEWHERE = new Set([
  START,
  'npm ci && npm test',
  'npm test',
  'npm ci',
  'npm start',
  'npm run demo',
]);

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const problems: string[] = [];
const lines = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap((block) => commands(block[1] ?? ''));
if (!lines.includes(START)) problems.push(`the README does not say "${START}"`);

for (const [, target = ''] of readme.matchAll(/\]\((?!https?:|#)([^)#]+)/g)) {
  if (!existsSync(join(ROOT, target))) problems.push(`broken link: ${target}`);
}
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object };
for (const [, name = ''] of readme.matchAll(/npm run ([\w:]+)/g)) {
  if (!(name in scripts)) problems.push(`there is no script "${name}"`);
}

const port = await freePort();
const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-readme-'));
const env = {
  ...process.env,
  UPBEAT_HTTP_PORT: String(port),
  UPBEAT_STORAGE_DATADIR: dataDir,
  UPBEAT_HTTP_HOST: '127.0.0.1',
};
const program = spawn('npm', ['start', '--silent'], {
  cwd: ROOT,
  env,
  stdio: ['ignore', 'pipe', 'inherit'],
  detached: true,
});
let output = '';
program.stdout.on('data', (chunk) => {
  output += chunk;
});
try {
  await untilReady(program);
  for (const line of lines.filter((command) => !RUN_ELSEWHERE.has(command))) run(line);
} finally {
  if (program.exitCode === null) {
    process.kill(-(program.pid ?? 0), 'SIGTERM');
    await once(program, 'exit');
  }
  rmSync(dataDir, { recursive: true, force: true });
}
for (const problem of problems) console.error(`README: ${problem}`);
if (problems.length > 0) console.error(output.slice(-4_000));
console.log(`README: ${lines.length} commands, ${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The commands of a block: joined where a line ends in a backslash, without comments. */
function commands(block: string): string[] {
  return block
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

function run(line: string): void {
  if (!/^(?:curl|npx upbeat) /.test(line)) {
    if (!/^npm run /.test(line)) problems.push(`no rule checks the command "${line}"`);
    return;
  }
  const command = line
    .replaceAll('localhost:8080', `127.0.0.1:${port}`)
    .replace(/^curl /, 'curl --fail --max-time 20 ');
  const { status, stderr } = spawnSync('bash', ['-c', command], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  // An event stream ends only by its time limit: status 28 of curl.
  if (status !== 0 && !(status === 28 && line.includes('/events'))) {
    problems.push(`"${line}" ended with ${status}: ${stderr.slice(-500)}`);
  }
}

async function untilReady(child: ChildProcess): Promise<void> {
  const until = Date.now() + 60_000;
  while (Date.now() < until && child.exitCode === null) {
    const ready = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
    await ready?.body?.cancel();
    if (ready?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  problems.push(
    child.exitCode === null
      ? 'npm start was not ready within a minute'
      : `npm start ended: ${child.exitCode}`,
  );
}
