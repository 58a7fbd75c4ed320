/**
 * The error of the reported latency against a server that answers after 50 ms: `node bench/truth.ts`. The server runs in a
 * process of its own; on a machine of two processors its own lateness is part of the error.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NO_MEMORY, type Timing } from '../src/domain/result.ts';
import { createProber } from '../src/probe/prober.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { type BenchRow, printRows } from './row.ts';
import { checkThroughEngine } from './whole-engine.ts';

const DELAY_MS = 50;
const SLOTS = 1_024;
const BURST = 500;
const BURST_ROUNDS = 5;

/** Offered loads with their targets: mean and 99th percentile of the error in milliseconds. */
const LOADS = [
  { name: '100/s', perSecond: 100, count: 500, mean: 0.8, p99: 3 },
  { name: '1,000/s', perSecond: 1_000, count: 4_000, mean: 0.6, p99: 7 },
  { name: '3,000/s', perSecond: 3_000, count: 9_000, mean: 2, p99: 25 },
] as const;

/** Measures the loads. */
export async function run(): Promise<BenchRow[]> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'slow-server.ts'), String(DELAY_MS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const prober = createProber({
    version: '0.0.0',
    siteUrl: 'http://localhost:8080',
    allowPrivate: ['127.0.0.0/8'],
    ports: [80],
    nameservers: [],
    ownersMayProbePrivate: false,
    concurrency: SLOTS,
  });
  const check = {
    kind: 'root',
    url: `http://127.0.0.1:${port}/`,
    method: null,
    accept: null,
    caFile: null,
  } as const;
  const target = targetOf(1, { domain: '127.0.0.1', check, memory: NO_MEMORY });
  const { signal } = new AbortController();
  const rows: BenchRow[] = [];
  for (const { name, perSecond, count, mean: meanTarget, p99: p99Target } of LOADS) {
    const free = Array.from({ length: SLOTS }, (_, slot) => slot);
    const errors: number[] = [];
    const startedMs = performance.now();
    const open: Promise<void>[] = [];
    for (let begun = 0; begun < count; ) {
      const due = Math.min(count, Math.floor(((performance.now() - startedMs) / 1_000) * perSecond) + 1);
      for (; begun < due && free.length > 0; begun++) {
        const slot = free.pop() as number;
        open.push(
          prober.runAttempt(target, { timeoutMs: 10_000, number: 0, slot, signal }).then(({ timing }) => {
            free.push(slot);
            errors.push(errorOf(timing));
          }),
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await Promise.all(open);
    rows.push(...judge(`at ${name}`, errors, meanTarget, p99Target));
  }
  const burst: number[] = [];
  for (let round = 0; round < BURST_ROUNDS; round++) {
    const targets = Array.from({ length: BURST }, (_, index) => ({ ...target, serviceId: index + 1 }));
    await checkThroughEngine(targets, prober.runAttempt, SLOTS, (results) => {
      for (const { timing } of results) burst.push(errorOf(timing));
    });
  }
  rows.push(...judge(`of ${BURST} due in one tick`, burst, 8, 20));
  await prober.close();
  server.stdin.end();
  printRows(rows);
  return rows;
}

function errorOf({ totalMs }: Timing): number {
  return Math.abs((totalMs ?? 0) - DELAY_MS);
}

/** Mean and 99th percentile of some errors beside their targets, all in milliseconds. */
function judge(of: string, errors: readonly number[], meanTarget: number, p99Target: number): BenchRow[] {
  const sorted = errors.toSorted((a, b) => a - b);
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  const p99 = sorted[Math.ceil(0.99 * sorted.length) - 1] ?? Number.NaN;
  const line = (what: string, value: number, most: number): BenchRow => ({
    name: `truth: ${what} error ${of}`,
    value,
    unit: 'ms',
    ratio: null,
    target: `<= ${most}`,
    reached: value <= most,
  });
  return [line('mean', mean, meanTarget), line('p99', p99, p99Target)];
}

if (import.meta.main) await run();
