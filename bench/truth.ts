/**
 * The error of the reported latency against a server that answers after 50 ms: `node bench/truth.ts`. It is compared with a
 * request by hand over `node:net` (the floor in Node, which includes the lateness of server and machine) and with
 * blackbox_exporter, in alternating rounds after a warm-up, so that code is compiled.
 */
import { createConnection } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { percentileOf } from '../src/domain/percentile.ts';
import { CA_FILE, createLoopbackProber, targetsOf, type Way } from './check-ways.ts';
import { startHelper } from './child.ts';
import { openEngine } from './engine-run.ts';
import { type BlackboxExporter, NO_BLACKBOX_EXPORTER, startBlackboxExporter } from './peers.ts';
import { absent, atMost, type BenchRow, floor, median, printRows } from './row.ts';

const DELAY_MS = 50;
const SLOTS = 1_024;
const WARM_UP = 15_000;
const WARM_UP_OPEN = 256;
const ROUNDS = 5;
const BURST = 500;

/** Offered loads with their targets: mean and 99th percentile of the error in milliseconds. */
const LOADS = [
  { name: 'at 100/s', perSecond: 100, count: 300, mean: 0.4, p99: 1.5 },
  { name: 'at 1,000/s', perSecond: 1_000, count: 1_500, mean: 0.3, p99: 1.5 },
  { name: 'at 3,000/s', perSecond: 3_000, count: 4_500, mean: 0.5, p99: 4 },
  {
    name: `of ${BURST} due in one tick`,
    perSecond: Number.POSITIVE_INFINITY,
    count: BURST,
    mean: 8,
    p99: 20,
  },
] as const;

/** Reports the latencies of some checks, milliseconds. */
type Subject = (perSecond: number, count: number) => Promise<number[]>;
type Name = 'upbeat' | 'net' | 'blackbox';

/** Means and 99th percentiles of the rounds. */
interface Errors {
  readonly means: number[];
  readonly p99s: number[];
}
type ErrorsOf = Record<Name, Errors>;
type Load = (typeof LOADS)[number]['name'];

/** Measures the loads. Takes a minute and a half. */
export async function run(): Promise<readonly BenchRow[]> {
  const server = await startHelper<number[]>('slow-server.ts', [DELAY_MS]);
  const ports = server.line;
  const prober = createLoopbackProber(SLOTS);
  const targets = targetsOf('http', ports, BURST);
  const { signal } = new AbortController();
  const byProber: Way = async (n, slot) => {
    const target = targets[n % BURST];
    if (target === undefined) throw new RangeError('no targets');
    const { timing } = await prober.runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal });
    return timing.totalMs ?? Number.NaN;
  };
  const byHand: Way = (n) => timeByHand(ports[n % ports.length] ?? 0);
  const burst: number[] = [];
  const engine = await openEngine(targets, prober.runAttempt, SLOTS, {
    onResults(results) {
      for (const { timing } of results) burst.push(timing.totalMs ?? Number.NaN);
    },
  });
  const blackbox = await startBlackboxExporter(CA_FILE, SLOTS);
  const subjects: Record<Name, Subject | null> = {
    upbeat: async (perSecond, count) => {
      if (Number.isFinite(perSecond)) return offer(byProber, perSecond, count);
      burst.length = 0;
      await engine.checkAll();
      return [...burst];
    },
    net: (perSecond, count) => offer(byHand, perSecond, count),
    blackbox: blackbox && ((perSecond, count) => offer(scrape(blackbox, ports), perSecond, count)),
  };
  await warmUp(byProber);
  await warmUp(byHand);
  await subjects.upbeat?.(Number.POSITIVE_INFINITY, BURST);
  const rows: BenchRow[] = [];
  const errors = await measure(subjects);
  for (const load of LOADS) rows.push(...judge(load, errors[load.name]));
  await engine.close();
  await prober.close();
  await blackbox?.stop();
  server.stop();
  return printRows(rows);
}

/** Runs all loads with all subjects in turn, `ROUNDS` times, so that a disturbance of the machine affects all of them. */
async function measure(subjects: Readonly<Record<Name, Subject | null>>): Promise<Record<Load, ErrorsOf>> {
  const none = (): ErrorsOf => ({
    upbeat: { means: [], p99s: [] },
    net: { means: [], p99s: [] },
    blackbox: { means: [], p99s: [] },
  });
  const errors = Object.fromEntries(LOADS.map(({ name }) => [name, none()])) as Record<Load, ErrorsOf>;
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, perSecond, count } of LOADS) {
      for (const subject of ['upbeat', 'net', 'blackbox'] as const) {
        const latencies = await subjects[subject]?.(perSecond, count);
        if (latencies === undefined) continue;
        const sorted = latencies.map((ms) => Math.abs(ms - DELAY_MS)).sort((a, b) => a - b);
        const { means, p99s } = errors[name][subject];
        means.push(sorted.reduce((sum, error) => sum + error, 0) / sorted.length);
        p99s.push(percentileOf(sorted, 0.99) ?? Number.NaN);
      }
    }
  }
  return errors;
}

/** Makes `count` checks, of which `perSecond` start each second; after a delay of the event loop it catches up. */
async function offer(way: Way, perSecond: number, count: number): Promise<number[]> {
  const free = Array.from({ length: SLOTS }, (_, slot) => slot);
  const latencies: number[] = [];
  const startedMs = performance.now();
  let begun = 0;
  while (latencies.length < count) {
    const due = Math.min(count, Math.floor(((performance.now() - startedMs) / 1_000) * perSecond) + 1);
    for (let slot = free.pop(); slot !== undefined; slot = free.pop()) {
      if (begun >= due) {
        free.push(slot);
        break;
      }
      const taken = slot;
      way(begun++, taken).then((ms) => {
        free.push(taken);
        latencies.push(Number(ms));
      });
    }
    await wait(1);
  }
  return latencies;
}

async function warmUp(way: Way): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: WARM_UP_OPEN }, async (_, slot) => {
      while (next < WARM_UP) await way(next++, slot);
    }),
  );
}

function timeByHand(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const socket = createConnection({ host: '127.0.0.1', port, autoSelectFamily: false });
    socket.on('error', reject);
    socket.on('connect', () =>
      socket.write('HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'),
    );
    socket.once('data', () => {
      resolve(performance.now() - startedMs);
      socket.destroy();
    });
  });
}

function scrape(blackbox: BlackboxExporter, ports: readonly number[]): Way {
  return (n) => blackbox.probe(`http://127.0.0.1:${ports[n % ports.length]}/`);
}

/** The rows of a load: its errors compared with the floor of the same run, then floor and peer. */
function judge({ name, mean, p99 }: (typeof LOADS)[number], errors: ErrorsOf): BenchRow[] {
  const { upbeat, net, blackbox } = errors;
  const row = (what: string, values: readonly number[], floors: readonly number[], max: number): BenchRow => {
    const value = median(values);
    return atMost(`truth: ${what} error ${name}, beside node:net`, value, 'ms', max, value / median(floors));
  };
  const peer =
    blackbox.means.length === 0
      ? [absent(`truth: error ${name}, blackbox_exporter`, NO_BLACKBOX_EXPORTER)]
      : [
          floor(`truth: mean error ${name}, blackbox_exporter (peer)`, median(blackbox.means), 'ms'),
          floor(`truth: p99 error ${name}, blackbox_exporter (peer)`, median(blackbox.p99s), 'ms'),
        ];
  return [
    row('mean', upbeat.means, net.means, mean),
    row('p99', upbeat.p99s, net.p99s, p99),
    floor(`truth: mean error ${name}, node:net by hand (floor)`, median(net.means), 'ms'),
    floor(`truth: p99 error ${name}, node:net by hand (floor)`, median(net.p99s), 'ms'),
    ...peer,
  ];
}

if (import.meta.main) await run();
