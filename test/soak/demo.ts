/**
 * `npm run soak -- demo --minutes 60`: runs the demonstration and compares, second by second, what the API says
 * with what the scripts of the simulated fleet and of its vendors allow. Ends with status 1 on any mismatch, error line
 * or growing memory.
 */
import { parseArgs } from 'node:util';
import { DEMO_FEED_INTERVAL_MS, DEMO_TIMING, startDemo } from '../../demo/demo.ts';
import { DEMO_SENDER_TIMING, DEMO_SENDERS } from '../../demo/heartbeat-senders.ts';
import { DEMO_SCRIPT } from '../../demo/services.ts';
import { compare, compareSenders, type Mismatch, mustBeOffline, type SeenService } from '../demo/compare.ts';
import { compareIncidents } from '../demo/compare-incidents.ts';
import { askForIncidents } from '../demo/seen-incidents.ts';
import { residentBytes } from './count/process-memory.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, port: { type: 'string', default: '0' } },
});
const minutes = Number(values.minutes);
const SHOWN_AT_MOST = 50;
/** Incidents are asked for with each such poll: a hundred questions. */
const INCIDENTS_EACH = 5;
/** What a run may grow by from its second quarter to its last: caches and the heap's own breathing. */
const GROWTH_RATIO = 1.15;
const GROWTH_BYTES = 24 * 2 ** 20;
/** Samples in a quarter, one each 10 s, from which growth is judged: a heap takes minutes to find its size. */
const JUDGED_FROM = 30;

const errors: string[] = [];
const warnings = new Map<string, number>();
const mismatches: Mismatch[] = [];
const memory: number[] = [];
let polls = 0;
let failedPolls = 0;

const demo = await startDemo({
  script: DEMO_SCRIPT,
  timing: DEMO_TIMING,
  feedIntervalMs: DEMO_FEED_INTERVAL_MS,
  senders: { list: DEMO_SENDERS, timing: DEMO_SENDER_TIMING },
  port: Number(values.port),
  settings: { log: { level: 'info', format: 'json' }, limits: { anonymousPerMinute: 100_000 } },
  output: takeLine,
});
console.log(`${demo.siteUrl}: ${DEMO_SCRIPT.services.length} services, ${minutes} minutes`);

let asked = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    asked = true;
  });
const endAt = demo.startAt + minutes * 60_000;
let lastReport = Date.now();
while (!asked && Date.now() < endAt && demo.program.exitCode === null) {
  await poll();
  if (Date.now() - lastReport >= 60_000) {
    lastReport = Date.now();
    console.log(line());
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
const endedEarly = demo.program.exitCode !== null || demo.program.signalCode !== null;
const status = await demo.stop();
report();

async function poll(): Promise<void> {
  const askedAt = Date.now() - demo.startAt;
  try {
    const seen = await getServices();
    const arrivedAt = Date.now() - demo.startAt;
    take(compare(DEMO_SCRIPT, DEMO_TIMING, seen, askedAt, arrivedAt, demo.startAt));
    take(compareSenders(DEMO_SENDERS, seen, askedAt, DEMO_SENDER_TIMING));
    const ready = (await (await fetch(`${demo.siteUrl}/readyz`)).json()) as { degraded?: unknown[] };
    const wanted = mustBeOffline(DEMO_SCRIPT, DEMO_TIMING, askedAt);
    const found = (ready.degraded ?? []).length > 0;
    if (wanted !== null && found !== wanted) {
      const word = (offline: boolean) => (offline ? 'offline' : 'online');
      take([{ slug: '(the prober)', elapsedMs: askedAt, found: word(found), wanted: word(wanted) }]);
    }
    if (polls % INCIDENTS_EACH === 0) {
      const entries = await askForIncidents(demo.siteUrl, DEMO_SCRIPT, demo.startAt);
      take(compareIncidents(DEMO_SCRIPT, { ...DEMO_TIMING, feedIntervalMs: DEMO_FEED_INTERVAL_MS }, entries));
    }
  } catch (error) {
    failedPolls++;
    errors.push(`poll: ${String(error)}`);
  }
  polls++;
  const bytes = demo.program.pid === undefined ? null : residentBytes(demo.program.pid);
  if (bytes !== null && polls % 10 === 0) memory.push(bytes);
}

async function getServices(): Promise<SeenService[]> {
  const response = await fetch(`${demo.siteUrl}/api/v1/services?limit=500`);
  if (response.status !== 200) throw new Error(`the list of services: ${response.status}`);
  return ((await response.json()) as { services: SeenService[] }).services;
}

function take(found: readonly Mismatch[]): void {
  for (const mismatch of found) {
    mismatches.push(mismatch);
    if (mismatches.length <= SHOWN_AT_MOST) {
      console.log(
        `MISMATCH at ${(mismatch.elapsedMs / 1_000).toFixed(1)} s: ${mismatch.slug} is ${mismatch.found}, not ${mismatch.wanted}`,
      );
    }
  }
}

function takeLine(text: string, stream: 'stdout' | 'stderr'): void {
  const entry = stream === 'stdout' ? parse(text) : null;
  if (entry === null || entry.level === 'error' || entry.level === 'fatal') {
    errors.push(`${stream}: ${text}`);
    console.log(`LOG ${text}`);
  } else if (entry.level === 'warn') {
    warnings.set(entry.msg ?? text, (warnings.get(entry.msg ?? text) ?? 0) + 1);
  }
}

/** A line of the log; null: not one. */
function parse(text: string): { level?: string; msg?: string } | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function line(): string {
  const now = memory.at(-1);
  return [
    `${((Date.now() - demo.startAt) / 60_000).toFixed(0)} min`,
    `${polls} polls`,
    `${mismatches.length} mismatches`,
    `${errors.length} error lines`,
    now === undefined ? 'memory not known' : `${mebibytes(now)} MiB`,
  ].join(', ');
}

function report(): void {
  const quarter = Math.floor(memory.length / 4);
  const early = median(memory.slice(quarter, 2 * quarter));
  const late = median(memory.slice(-quarter));
  const grows = quarter >= JUDGED_FROM && late > early * GROWTH_RATIO && late > early + GROWTH_BYTES;
  console.log(line());
  console.log(`${demo.fleet.requests} requests reached the fleet; the program ended with status ${status}`);
  const vendors = [...demo.vendors.answers].map(([status, count]) => `${count} times ${status}`).join(', ');
  console.log(`the vendors answered ${vendors}`);
  if (quarter > 0) {
    console.log(`memory: ${mebibytes(early)} MiB in the second quarter, ${mebibytes(late)} MiB in the last`);
  }
  for (const [message, count] of warnings) console.log(`warning, ${count} times: ${message}`);
  if (grows) console.log('memory grows');
  if (endedEarly) console.log('the program ended before it was asked to');
  const failed = mismatches.length + errors.length + failedPolls > 0 || grows || endedEarly || status !== 0;
  console.log(failed ? 'NOT as the script wants' : 'exactly as the script wants');
  process.exitCode = failed ? 1 : 0;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0);
}
