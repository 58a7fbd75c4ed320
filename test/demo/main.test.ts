/** `npm run demo` as a user runs it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import t from 'tap';
import { startDemo } from '../../demo/demo.ts';
import { ownEnvironment, startProgram } from '../../demo/program.ts';
import { readPort, UsageError } from '../../demo/terminal.ts';
import { DAY_MS } from '../../src/domain/durations.ts';
import { until } from '../support/loopback.ts';

const ROOT = join(import.meta.dirname, '../..');
const NEVER = new AbortController().signal;

t.setTimeout(600_000);

/** The processes whose command line names the folder. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
    } catch {
      return false;
    }
  });
}

/** Runs the command. */
function run(...args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, ['demo/main.ts', ...args], {
    cwd: ROOT,
    env: ownEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk;
    });
  const ended = once(child, 'close') as Promise<[number | null]>;
  t.teardown(() => void child.kill('SIGKILL'));
  return { child, output: () => output, ended };
}

/** The answer to a GET; a program on a busy machine may ask to come back. */
async function look(url: string): Promise<Response> {
  for (;;) {
    const answer = await fetch(url);
    if (answer.status !== 503) return answer;
    await answer.arrayBuffer();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

t.test('it refuses what is no port in one line', async (t) => {
  for (const args of [['--port', 'abc'], ['--port', '65536'], ['--port', '-1'], ['--prot', '9'], ['9000']])
    t.ok((await readPort(args).catch((error: unknown) => error)) instanceof UsageError, args.join(' '));
  t.equal(await readPort(['--port', '0']), 0);
  const server = createServer().listen(0);
  await once(server, 'listening');
  t.teardown(() => server.close());
  const port = (server.address() as AddressInfo).port;
  await t.rejects(readPort(['--port', String(port)]), /is in use: choose another one/);
  const wrong = run('--port', 'abc');
  t.same(await wrong.ended, [2, null]);
  t.match(wrong.output(), /^demo: --port abc is not a port: [^\n]+\n$/);
});

t.test('it shows a past, a status page and a channel, and Ctrl-C ends all of it', async (t) => {
  const demo = run('--port', '0');
  await until(() => /Ctrl-C/.test(demo.output()) || demo.child.exitCode !== null, 300_000);
  const folder = dirname(/The log: (\S+)/.exec(demo.output())?.[1] ?? '');
  t.not(processesOf(folder).length, 0);
  const [, site = ''] = /Open (http:\/\/localhost:\d+)\n/.exec(demo.output()) ?? [];
  t.not(site, '');
  const screen = demo.output().slice(demo.output().indexOf('Upbeat monitors'));
  t.ok(screen.split('\n').length <= 24, 'it fits a terminal');
  for (const [, url = ''] of screen.matchAll(/^ {2}(?:Open )?(http\S+)$/gm))
    t.equal((await look(url)).status, 200, url);
  const ask = async (path: string) => await (await look(site + path)).json();
  const { incidents } = (await ask('/api/v1/incidents?limit=500')) as { incidents: { source?: string }[] };
  t.ok(incidents.length > 60, `${incidents.length} incidents`);
  const from = new Date(Date.now() - 89 * DAY_MS).toISOString();
  const { buckets } = (await ask(`/api/v1/services/chirrup/history?from=${from}&step=1d`)) as {
    buckets: { count: number }[];
  };
  t.ok(buckets.filter(({ count }) => count > 0).length >= 89, 'each day has samples');
  const page = await (await look(`${site}/p/harbour-goods`)).text();
  for (const shown of [page, await (await look(site)).text()])
    t.match(shown, /<p class="card notice">A simulation: none of these services is real/);
  t.match(page, /Parcels from Rotterdam are late/);
  t.match(page, /New shelves for the database/);
  demo.child.kill('SIGINT');
  t.same(await demo.ended, [0, null]);
  t.same([existsSync(folder), processesOf(folder)], [false, []], 'nothing is left');
});

t.test('a start that is given up ends everything', async (t) => {
  const stopping = new AbortController();
  let logged = '';
  const start = startDemo({
    script: { periodMs: 60_000, services: [], outages: [], vendors: [] },
    timing: {
      intervalMs: 1_000,
      timeoutMs: 1_000,
      slowOverMs: 500,
      confirmAfterMs: [],
      firstSpreadMs: 0,
      slackMs: 0,
    },
    feedIntervalMs: 60_000,
    senders: { list: [], timing: { periodMs: 60_000, everyMs: 60_000, silenceMs: 60_000, slackMs: 0 } },
    port: 0,
    settings: { log: { format: 'json' } },
    output: (line) => {
      logged += line;
    },
    onProgress: (step) => {
      if (step === 'starting Upbeat') setTimeout(() => stopping.abort(), 200);
    },
    signal: stopping.signal,
  });
  await t.rejects(start, { name: 'AbortError' });
  t.notMatch(logged, '"level":"error"');
});

t.test('it waits for a program that is not ready, and fails when that ends', async (t) => {
  let answers = 0;
  const server = createHttpServer((_request, response) => {
    response.writeHead(answers++ < 15 ? 503 : 200).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = t.testdir();
  const configFile = join(folder, 'upbeat.yaml');
  // It stands still at its configuration until something is written there.
  execFileSync('mkfifo', [configFile]);
  const program = startProgram(configFile, { file: join(folder, 'upbeat.log') });
  t.teardown(() => program.stop());
  const waited: number[] = [];
  await program.untilReady(url, NEVER, (elapsedMs) => waited.push(elapsedMs));
  t.equal(answers, 16);
  t.ok(waited.length > 0, 'it says that it waits');
  const refused = program.untilReady('http://127.0.0.1:1', NEVER, () => {});
  writeFileSync(configFile, 'checks: { interval: never }');
  await t.rejects(refused, /the program ended with status 2:[\s\S]*checks\.interval/);
});
