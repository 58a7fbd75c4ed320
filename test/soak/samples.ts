/**
 * `npm run soak -- samples [--million 100]`: the embedded sample store with so many million samples of a thousand
 * services. It measures each query of the pages while nothing else happens, while samples of all services come and are sealed into
 * blocks, and while three quarters of all days go out of retention, and the longest turn of the event loop that asks. Ends with
 * status 1 if the median of a query is over 5 ms, or a turn over 20 ms.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Sample } from '../../src/domain/sample.ts';
import { silentLog } from '../../src/log.ts';
import type { SampleStore } from '../../src/store/ports/samples.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';

const SERVICES = 1_000;
const STEP_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SAMPLES_A_DAY = DAY_MS / STEP_MS;
const MAX_MEDIAN_MS = 5;
const MAX_TURN_MS = 20;
const TURNS = 200;
const ROUND_MS = 100;

const { values } = parseArgs({ options: { million: { type: 'string', default: '100' } } });
const days = Math.ceil((Number(values.million) * 1e6) / SERVICES / SAMPLES_A_DAY);
const folder = mkdtempSync(join(tmpdir(), 'upbeat-samples-'));
const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
let missed = 0;

/** The queries of the pages: how far they look back, and the length of their buckets. */
const QUERIES = [
  ['24 hours by the quarter of an hour', DAY_MS, DAY_MS / 96],
  ['7 days by the hour', 7 * DAY_MS, HOUR_MS],
  ['30 days in one bucket', 30 * DAY_MS, 30 * DAY_MS],
  ['30 days by the hour', 30 * DAY_MS, HOUR_MS],
  ['90 days by the day', 90 * DAY_MS, DAY_MS],
  ['365 days by the day', 365 * DAY_MS, DAY_MS],
] as const;

const open = (rawRetentionDays: number) =>
  openSamples({
    dataDir: folder,
    rawRetentionMs: rawRetentionDays * DAY_MS,
    rollupRetentionMs: 800 * DAY_MS,
    log: silentLog,
  });
const turns = monitorEventLoopDelay({ resolution: 1 });

let store = await open(400);
await fill(store);
await measure('idle', store, async () => {});
await measure('while samples come and are sealed', store, async (isOver) => {
  for (let round = 0; !isOver(); round++) {
    await store.append(
      Array.from({ length: SERVICES }, (_, index) => sampleOf(index + 1, end + round * 1_000)),
    );
    await pause(ROUND_MS);
    if (round % 20 === 19) await store.compact();
  }
});
await store.close();
store = await open(Math.ceil(days / 4));
await measure('while days go out of retention', store, () => store.compact());
await store.close();
console.log(
  `${values.million} million samples of ${days} days; ${megabytes()} MB are left of a quarter of them`,
);
rmSync(folder, { recursive: true, force: true });
if (missed > 0) process.exitCode = 1;

/** Writes all samples in the order of days. */
async function fill(filled: Awaited<ReturnType<typeof open>>): Promise<void> {
  const startedMs = performance.now();
  for (let day = days; day > 0; day--) {
    for (let serviceId = 1; serviceId <= SERVICES; serviceId += 50)
      await filled.append(
        Array.from({ length: 50 * SAMPLES_A_DAY }, (_, index) =>
          sampleOf(serviceId + (index % 50), end - day * DAY_MS + Math.floor(index / 50) * STEP_MS),
        ),
      );
    await filled.flush();
  }
  await filled.compact();
  const seconds = (performance.now() - startedMs) / 1_000;
  console.log(`written in ${seconds.toFixed(0)} s, ${megabytes()} MB`);
}

/** The size of the store's file. */
function megabytes(): string {
  return (statSync(join(folder, 'samples.sqlite')).size / 1e6).toFixed(0);
}

/** Measures all queries, at random services, while `work` runs; `work` ends when it is over, or at the latest with it. */
async function measure(
  name: string,
  asked: SampleStore,
  work: (isOver: () => boolean) => Promise<void>,
): Promise<void> {
  console.log(`== ${name}`);
  let isOver = false;
  let isDone = false;
  turns.enable();
  turns.reset();
  const working = work(() => isOver).then(() => {
    isDone = true;
  });
  const times = QUERIES.map((): number[] => []);
  for (let turn = 0; turn < TURNS || (name.includes('retention') && !isDone); turn++)
    for (const [index, [, lengthMs, stepMs]] of QUERIES.entries()) {
      const serviceId = 1 + ((turn * 7_919 + index) % SERVICES);
      const startedMs = performance.now();
      await asked.query({ serviceId, from: end - lengthMs, to: end, stepMs });
      times[index]?.push(performance.now() - startedMs);
    }
  isOver = true;
  await working;
  const longestMs = turns.max / 1e6;
  for (const [index, [label]] of QUERIES.entries()) {
    const sorted = (times[index] ?? []).toSorted((a, b) => a - b);
    const at = (ratio: number) => sorted[Math.floor(sorted.length * ratio)] ?? Number.NaN;
    if (at(0.5) > MAX_MEDIAN_MS) missed++;
    console.log(
      `${label.padEnd(40)} p50 ${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(1)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
    );
  }
  if (longestMs > MAX_TURN_MS) missed++;
  console.log(`${'the longest turn of the event loop'.padEnd(40)} ${longestMs.toFixed(1)} ms`);
}

function sampleOf(serviceId: number, at: number): Sample {
  const noise = (Math.imul(Math.floor(at / 1_000) ^ serviceId, 0x9e3779b1) >>> 8) % 60;
  const isBad = noise === 7 && at % 50 === 0;
  return {
    serviceId,
    at: at + (serviceId % 60) * 1_000,
    suspect: false,
    status: isBad ? 'down' : 'up',
    latencyMs: isBad ? null : 80 + (serviceId % 400) + noise,
    statusCode: isBad ? 503 : 200,
  };
}
