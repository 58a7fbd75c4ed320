/**
 * `npm run soak -- overload [--seconds 60] [--pages 600] [--api 200] [--idle 10000]`: clients ask for pages and the API as fast as they are
 * answered, over so many connections and from as many addresses, which is many times what the program can serve. A sender of heartbeats keeps
 * its pace. Then the same with idle connections, clients that send a header byte by byte and clients that do not read. Ends with status 1 where
 * a heartbeat was refused or lost, the API was refused before pages, a page got neither itself nor a refusal, memory grew without bound, or
 * the program did not recover in 10 s.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { listenOn } from '../support/loopback.ts';
import { install } from '../support/program.ts';
import { workerOf } from '../support/stall.ts';
import { openIdle, runClients, type Tally } from './overload/clients.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    pages: { type: 'string', default: '600' },
    api: { type: 'string', default: '200' },
    idle: { type: 'string', default: '10000' },
  },
});
const SERVICES = 200;
const HEARTBEATS = { connections: 10, pauseMs: 200 };
const MIB = 1_048_576;
const MAX_GROWTH_MIB = 400;
const RECOVERY_MS = 10_000;

const site = await listenOn(createServer((_request, response) => response.end()));
const entries = Array.from({ length: SERVICES }, (_, index) => ({
  slug: `s${index}`,
  check: { url: `http://127.0.0.1:${site.port}/${index}` },
}));
const installation = await install(entries, {
  http: { trustedProxies: ['127.0.0.0/8'] },
  limits: { authenticatedPerMinute: 1_000_000, changesPerAccount: 1_000_000 },
  checks: { interval: '5s' },
});
const program = await installation.start();
const port = Number(new URL(program.siteUrl).port);
const worker = workerOf(program.process);
const wrong: string[] = [];

/** A request from an address of its own. */
let address = 0;
function request(path: string, accept: string): string {
  address = (address + 1) % 2 ** 24;
  const from = [10, address >> 16, (address >> 8) & 255, address & 255].join('.');
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: ${accept}\r\nX-Forwarded-For: ${from}\r\n\r\n`;
}

function residentMib(): number {
  const pages = Number(readFileSync(`/proc/${worker}/statm`, 'utf8').split(' ')[1]);
  return (pages * 4_096) / MIB;
}

/** The median and the 99th percentile of times in milliseconds. */
function times(ms: readonly number[]): string {
  const sorted = [...ms].sort((a, b) => a - b);
  const at = (part: number) => Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
  return `in ${at(0.5)} ms (median), ${at(0.99)} ms (99th percentile)`;
}

function describe(name: string, { statuses, servedMs, refusedMs }: Tally, seconds: number): void {
  const counts = [...statuses].map(([status, count]) => `${count} x ${status || 'no answer'}`).join(', ');
  const refused = refusedMs.length === 0 ? '' : `; refused ${times(refusedMs)}`;
  console.log(
    `  ${name.padEnd(12)} ${Math.round(servedMs.length / seconds)} served a second, ${times(servedMs)}${refused}; ${counts}`,
  );
}

/** Runs the load for so long; `others` are further clients that only cost. */
async function overload(name: string, seconds: number, key: string): Promise<void> {
  const end = new AbortController();
  const beforeMib = residentMib();
  let mostMib = beforeMib;
  const watching = setInterval(() => {
    mostMib = Math.max(mostMib, residentMib());
  }, 250);
  let n = 0;
  const common = { port, end: end.signal };
  const running = Promise.all([
    runClients({
      ...{ ...common, connections: Number(values.pages), pauseMs: 0 },
      next: () => request(n++ % 2 === 0 ? '/' : `/status/s${n % SERVICES}`, 'text/html'),
    }),
    runClients({
      ...{ ...common, connections: Number(values.api), pauseMs: 0 },
      next: () => request('/api/v1/services?limit=100', 'application/json'),
    }),
    runClients({
      ...{ ...common, ...HEARTBEATS },
      next() {
        const body = '{"domain":"jobs.example.org","status":"ok"}';
        return `POST /api/v1/heartbeat HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      },
    }),
  ]);
  await sleep(seconds * 1_000);
  end.abort();
  const [pages, api, heartbeats] = await running;
  const endedMs = performance.now();
  const isServed = async () => {
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => (await program.get('/', { accept: 'text/html' })).status),
    );
    return statuses.every((status) => status === 200);
  };
  while (!(await isServed()) && performance.now() - endedMs < 3 * RECOVERY_MS) await sleep(100);
  const recoveryMs = performance.now() - endedMs;
  clearInterval(watching);
  console.log(`${name}, load ${loadavg()[0]?.toFixed(1)} on ${availableParallelism()} cores`);
  describe('pages', pages, seconds);
  describe('API', api, seconds);
  describe('heartbeats', heartbeats, seconds);
  console.log(
    `  memory ${Math.round(beforeMib)} MiB before, ${Math.round(mostMib)} MiB at most; all pages are served again after ${(recoveryMs / 1_000).toFixed(1)} s`,
  );
  const refused = ({ statuses }: Tally) =>
    (statuses.get(503) ?? 0) / [...statuses.values()].reduce((a, b) => a + b, 0);
  if (heartbeats.servedMs.length === 0 || refused(heartbeats) > 0 || (heartbeats.statuses.get(0) ?? 0) > 0)
    wrong.push(`${name}: heartbeats were refused or lost`);
  if (refused(api) > refused(pages)) wrong.push(`${name}: more of the API was refused than of pages`);
  if (pages.servedMs.length === 0 || (pages.statuses.get(0) ?? 0) > 0)
    wrong.push(`${name}: pages got no answer, or none was served`);
  if (mostMib - beforeMib > MAX_GROWTH_MIB)
    wrong.push(`${name}: memory grew by ${Math.round(mostMib - beforeMib)} MiB`);
  if (recoveryMs > RECOVERY_MS) wrong.push(`${name}: it recovered after ${Math.round(recoveryMs)} ms`);
}

try {
  const key = await installation.makeKey('ada');
  await program.until<{ readonly total: number }>(
    '/api/v1/services?status=up&limit=1',
    ({ total }) => total === SERVICES,
  );
  const seconds = Number(values.seconds);
  await overload('pages and API as fast as they are answered', seconds, key);
  const idle = await openIdle(port, Number(values.idle), '');
  const slow = await openIdle(port, 500, 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ', 'x');
  const deaf = await openIdle(port, 200, request('/', 'text/html').repeat(20));
  console.log(
    `${idle.opened} idle connections, ${slow.opened} slow writers, ${deaf.opened} that do not read 20 pages`,
  );
  await overload('the same beside idle, slow and deaf clients', seconds, key);
  for (const group of [idle, slow, deaf]) group.close();
  const ready = await program.get('/readyz');
  if (ready.status !== 200) wrong.push('it is not ready at the end');
  if (workerOf(program.process) !== worker) wrong.push('it was started again');
  const told = program
    .output()
    .split('\n')
    .filter((line) => /overloaded/.test(line));
  console.log(`the log told ${told.length} times of overload`);
} finally {
  await program.killHard();
  installation.remove();
  await site.close();
}
for (const line of wrong) console.log(`WRONG  ${line}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
