/**
 * `npm run soak -- million [--services 1000000] [--minutes 5] [--rate N] [--from catalogue|registry] [--report FILE]`: the whole program
 * with its embedded stores, alone with so many services on loopback servers. `--rate`: checks a second; default: each
 * service every five minutes. `--from`: where the services come from, the catalogue file or an owner's account. `--report`: writes the
 * figures to a file, for `fleet-sizes.ts`.
 *
 * The program starts once without checks, which shows the latency of an idle API, and then with them. Prints each figure
 * beside its target, and ends with status 1 if one is missed.
 */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { install, type RunningProgram } from '../support/program.ts';
import { fillRegistry, fillStatuses, nameOf, writeCatalogue } from './million/fill-data.ts';
import { readProcesses } from './million/process-report.ts';

const { values } = parseArgs({
  options: {
    services: { type: 'string', default: '1000000' },
    minutes: { type: 'string', default: '5' },
    rate: { type: 'string' },
    from: { type: 'string', default: 'catalogue' },
    report: { type: 'string' },
  },
});
const services = Number(values.services);
const seconds = Number(values.minutes) * 60;
const rate = Number(values.rate ?? services / 300);
const intervalS = Math.max(1, Math.round(services / rate));
const isFile = values.from === 'catalogue';

/** With it, next to no service is due. */
const IDLE_INTERVAL = '24h';
const READY_WITHIN_MS = 600_000;
const IDLE_S = 10;
const READ_PAUSE_MS = 50;
const SAMPLE_MS = 2_000;
/** Target for the start delay. */
const MAX_DELAY_MS = 250;
const CHANGED = Math.min(1_000, services);
/** Targets of an installation with up to so many services: time to ready, seconds; memory, MB. */
const SIZES = [
  { services: 100_000, readyS: 6, megabytes: 350 },
  { services: 1_000_000, readyS: 20, megabytes: 1_200 },
];
const size = SIZES.find((one) => services <= one.services) ?? { readyS: Infinity, megabytes: Infinity };

const missed: string[] = [];
/** What was measured, by its name. */
const figures: Record<string, number> = {};
const targets = await startTargets();
const installation = await install([], (siteUrl) => ({
  checks: {
    ...{ interval: `${intervalS}s`, timeout: '10s', firstSpread: '60s', confirmAfter: ['2s', '4s'] },
    ...{ threads: 'auto', ownersMayProbePrivate: true, controlTargets: [`${siteUrl}/healthz`] },
  },
}));
const catalogue = join(installation.folder, 'catalogue.yaml');
const configFile = join(installation.folder, 'upbeat.yaml');
const dataDir = join(installation.folder, 'data');
let running: RunningProgram | null = null;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void end().then(() => process.exit(1)));
try {
  await runTrial();
} finally {
  await end();
}
if (values.report !== undefined) writeFileSync(values.report, JSON.stringify({ services, figures }));
for (const what of missed) console.log(`MISSED: ${what}`);
process.exitCode = missed.length === 0 ? 0 : 1;

async function runTrial(): Promise<void> {
  console.log(`${services} services, a check of each every ${intervalS} s, from the ${values.from}`);
  if (isFile) {
    await timed('writing the catalogue file', async () => writeCatalogue(catalogue, targets.port, services));
    await start('first start, which stores the catalogue', IDLE_INTERVAL);
    await stop();
  } else {
    await timed('filling the registry', () => fillRegistry(dataDir, targets.port, services));
  }
  // A check less than half an interval ago would put off the next one.
  const age = () => fillStatuses(dataDir, intervalS * 600);
  await timed('giving all services a status', async () => age());

  await start('start without checks', IDLE_INTERVAL);
  const idle = await readFor(IDLE_S);
  console.log(`  idle API: ${describe(idle)}`);
  await readPages();
  await stop();

  age();
  await targets.ask('forget');
  const startedAt = Date.now();
  const readyS = await start('start with checks', `${intervalS}s`);
  let first: number | null = null;
  while (first === null) first = (await targets.ask('count')).firstAt;
  judge('ready, seconds', readyS, size.readyS);
  judge('first check, seconds', (first - startedAt) / 1_000, size.readyS);

  const { requests: before } = await targets.ask('count');
  const beganMs = performance.now();
  const cpuBefore = cpuSeconds();
  const observing = observe(seconds);
  const busy = await readFor(seconds);
  const { delaysMs, heldBytes } = await observing;
  const { requests: after } = await targets.ask('count');
  const made = (after - before) / ((performance.now() - beganMs) / 1_000);
  const usedS = cpuSeconds() - cpuBefore;
  figures['CPU, seconds a second'] = (usedS * 1_000) / (performance.now() - beganMs);
  figures['CPU for a check, µs'] = (usedS * 1e6) / (after - before);
  figures['GET /api/v1/status/:slug, ms'] = at(busy, 0.5);
  console.log(`  API meanwhile: ${describe(busy)}`);
  judge(`checks a second, at least 0.98 of ${rate.toFixed(0)}`, -made, -0.98 * rate);
  judge('start delay, worst p99 of a second, ms', at(delaysMs, 1), MAX_DELAY_MS);
  judge('start delay, median of these, ms', at(delaysMs, 0.5), MAX_DELAY_MS);
  judge('API beside its idle median', at(busy, 0.5) / at(idle, 0.5), 1.3);
  judge('memory, MB', heldBytes / 1e6, size.megabytes);
  await readPages();
  if (isFile) await changeCatalogue();
  const { peakBytes, cpuOfThreads } = readProcesses(program().process.pid ?? 0);
  console.log(`  highest memory since the start: ${(peakBytes / 1e6).toFixed(0)} MB`);
  const busiest = [...cpuOfThreads].sort(([, a], [, b]) => b - a).slice(0, 6);
  console.log(`  CPU, seconds: ${busiest.map(([name, used]) => `${name} ${used.toFixed(1)}`).join(', ')}`);
}

/** Starts the program with an interval of checks; the time until it is ready, seconds. */
async function start(what: string, interval: string): Promise<number> {
  const settings = readFileSync(configFile, 'utf8');
  writeFileSync(configFile, settings.replace(/^ {2}interval: .*$/m, `  interval: ${interval}`));
  const startedMs = performance.now();
  running = await installation.start(undefined, READY_WITHIN_MS);
  const tookS = (performance.now() - startedMs) / 1_000;
  const { heldBytes, peakBytes } = readProcesses(running.process.pid ?? 0);
  console.log(
    `${what}: ready after ${tookS.toFixed(1)} s, ${(heldBytes / 1e6).toFixed(0)} MB, at most ${(peakBytes / 1e6).toFixed(0)} MB`,
  );
  return tookS;
}

async function stop(): Promise<void> {
  await timed('  stop', () => program().stop());
  running = null;
}

function program(): RunningProgram {
  if (running === null) throw new Error('the program does not run');
  return running;
}

/** Reads the status of services one after the other; latencies in milliseconds, in ascending order. */
async function readFor(forS: number): Promise<readonly number[]> {
  const latencies: number[] = [];
  const untilMs = performance.now() + forS * 1_000;
  while (performance.now() < untilMs) {
    const number = 1 + Math.floor(Math.random() * services);
    const startedMs = performance.now();
    const { status } = await program().get(`/api/v1/status/service-${number}`);
    latencies.push(performance.now() - startedMs);
    if (status !== 200) missed.push(`a status was answered with ${status}`);
    await sleep(READ_PAUSE_MS);
  }
  return latencies.sort((a, b) => a - b);
}

/** Home, lists, search, feed of changes and metrics, each twice: the first read may compute what later ones find. */
async function readPages(): Promise<void> {
  const paths = {
    home: '/',
    list: '/api/v1/services?limit=100',
    'list of a category': '/api/v1/services?category=ai&limit=100',
    'list by response time': '/api/v1/services?sort=-response_time&limit=100',
    'list of those down': '/api/v1/services?status=down&limit=100',
    search: '/api/v1/services?q=99&limit=100',
    incidents: '/api/v1/incidents',
    'feed of incidents': '/incidents.atom',
    metrics: '/metrics',
  };
  for (const [name, path] of Object.entries(paths)) {
    const times: string[] = [];
    let bytes = 0;
    for (let turn = 0; turn < 3; turn++) {
      const startedMs = performance.now();
      const { status, body } = await program().get(path);
      times.push((performance.now() - startedMs).toFixed(1));
      bytes = (Buffer.isBuffer(body) ? body : JSON.stringify(body)).length;
      if (status !== 200) missed.push(`${name} was answered with ${status}`);
    }
    console.log(`  ${name}: ${times.join(', ')} ms, ${(bytes / 1_024).toFixed(0)} KB`);
    figures[`${name}, first, ms`] = Number(times[0]);
    figures[`${name}, again, ms`] = Number(times.at(-1));
  }
}

/** Follows the program; the p99 of start delays of single seconds in ascending order, and the highest memory. */
async function observe(forS: number) {
  const delaysMs: number[] = [];
  const beganMs = performance.now();
  let heldBytes = 0;
  const untilMs = performance.now() + forS * 1_000;
  while (performance.now() < untilMs) {
    const metrics = String((await program().get('/metrics')).body);
    delaysMs.push(
      Number(/^upbeat_check_start_delay_p99_seconds (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN) * 1_000,
    );
    if ((delaysMs.at(-1) ?? 0) > MAX_DELAY_MS)
      console.log(
        `  after ${((performance.now() - beganMs) / 1_000).toFixed(0)} s the p99 of a second is ${delaysMs.at(-1)?.toFixed(0)} ms`,
      );
    heldBytes = Math.max(heldBytes, readProcesses(program().process.pid ?? 0).heldBytes);
    await sleep(SAMPLE_MS);
  }
  return { delaysMs: delaysMs.sort((a, b) => a - b), heldBytes };
}

/** Renames services in the catalogue file, and waits until the API shows the last one. */
async function changeCatalogue(): Promise<void> {
  writeCatalogue(catalogue, targets.port, services, { edited: CHANGED, edition: 1 });
  const startedMs = performance.now();
  const wanted = nameOf(CHANGED, 1);
  await program().until<{ name?: string }>(
    `/api/v1/status/service-${CHANGED}`,
    ({ name }) => name === wanted,
    READY_WITHIN_MS,
  );
  judge(`a change of ${CHANGED} entries, seconds`, (performance.now() - startedMs) / 1_000, 2);
}

function judge(what: string, value: number, most: number): void {
  figures[what] = Math.abs(value);
  const isMet = value <= most;
  console.log(
    `${isMet ? 'ok    ' : 'MISSED'} ${what}: ${Math.abs(value).toFixed(2)} (${Math.abs(most).toFixed(2)})`,
  );
  if (!isMet) missed.push(what);
}

/** Of the program and all that it has started. */
function cpuSeconds(): number {
  const { cpuOfThreads } = readProcesses(program().process.pid ?? 0);
  return [...cpuOfThreads.values()].reduce((sum, used) => sum + used, 0);
}

function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

function describe(latencies: readonly number[]): string {
  const [p50, p99] = [at(latencies, 0.5), at(latencies, 0.99)];
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms (${latencies.length} requests)`;
}

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const value = await work();
  console.log(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
  return value;
}

async function end(): Promise<void> {
  await running?.killHard();
  targets.end();
  installation.remove();
}

async function startTargets() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'million/targets.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const read = async () => JSON.parse((await lines.next()).value ?? 'null');
  const port: number = await read();
  return {
    port,
    async ask(word: 'count' | 'forget'): Promise<{ requests: number; firstAt: number | null }> {
      child.stdin.write(`${word}\n`);
      return await read();
    },
    end: () => child.kill(),
  };
}
