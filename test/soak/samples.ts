/**
 * `npm run soak -- samples [--million 100]`: the embedded sample store with so many million samples of a thousand
 * services. It measures each query of the pages while nothing else happens, while samples of all services come and are sealed into
 * blocks, and while three quarters of all days go out of retention, and the longest turn of the event loop that asks. Then the whole
 * program does the same on a copy of the store (`samples/program-turns.ts`). Ends with status 1 if the median of a query is over its limit, or
 * a turn of the whole program used more than 20 ms of CPU time and more than any in the idle program of the same run.
 */
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { spanOf } from '../../src/domain/picture.ts';
import type { Sample } from '../../src/domain/sample.ts';
import { silentLog } from '../../src/log.ts';
import type { SampleStore } from '../../src/store/ports/samples.ts';
import { openSamples } from '../../src/store/samples/sqlite-samples.ts';
import { createHeatmapReader } from '../../src/view/heatmap-cells.ts';
import { measureProgram } from './samples/program-turns.ts';

const SERVICES = 1_000;
const STEP_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SAMPLES_A_DAY = DAY_MS / STEP_MS;
const MAX_MEDIAN_MS = 5;
const MAX_HEATMAP_MS = 300;
const TURNS = 200;
const ROUND_MS = 100;

const { values } = parseArgs({ options: { million: { type: 'string', default: '100' } } });
const days = Math.ceil((Number(values.million) * 1e6) / SERVICES / SAMPLES_A_DAY);
const ALL = Array.from({ length: SERVICES }, (_, index) => index + 1);
const folder = mkdtempSync(join(tmpdir(), 'upbeat-samples-'));
const end = Math.floor(Date.now() / DAY_MS) * DAY_MS;
let missed = 0;

/** What pages read of one service: how far it looks back, and the length of its buckets. */
const QUERIES = [
  ['24 hours by the quarter of an hour', DAY_MS, DAY_MS / 96],
  ['7 days by the hour', 7 * DAY_MS, HOUR_MS],
  ['30 days in one bucket', 30 * DAY_MS, 30 * DAY_MS],
  ['30 days by the hour', 30 * DAY_MS, HOUR_MS],
  ['90 days by the day', 90 * DAY_MS, DAY_MS],
  ['365 days by the day', 365 * DAY_MS, DAY_MS],
] as const;

/** A reading of a page: how often it is measured for each of the others, the limit of its median in milliseconds, and what it reads. */
interface Reading {
  readonly name: string;
  readonly everyTurns: number;
  readonly maxMedianMs: number;
  readonly read: (asked: SampleStore, serviceId: number) => Promise<unknown>;
}

const READINGS: readonly Reading[] = [
  ...QUERIES.map(
    ([name, lengthMs, stepMs]): Reading => ({
      ...{ name, everyTurns: 1, maxMedianMs: MAX_MEDIAN_MS },
      read: (asked, serviceId) => asked.query({ serviceId, from: end - lengthMs, to: end, stepMs }),
    }),
  ),
  {
    ...{ name: 'uptimes of 30 days of 100 services', everyTurns: 10, maxMedianMs: 100 * MAX_MEDIAN_MS },
    async read(asked, serviceId) {
      const query = { from: end - 30 * DAY_MS, to: end, stepMs: 30 * DAY_MS };
      for (let place = 0; place < 100; place++)
        await asked.query({ serviceId: 1 + ((serviceId + place) % SERVICES), ...query });
    },
  },
  {
    ...{ name: 'a heat map of a year, all services', everyTurns: 20, maxMedianMs: MAX_HEATMAP_MS },
    // A new reader has no row of an earlier heat map.
    read: (asked) => createHeatmapReader(asked)(ALL, '1y', spanOf('1y', end - 1)),
  },
];

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
const kept = join(folder, 'before-retention.sqlite');
copyFileSync(join(folder, 'samples.sqlite'), kept);
store = await open(Math.ceil(days / 4));
await measure('while days go out of retention', store, () => store.compact());
await store.close();
console.log(
  `${values.million} million samples of ${days} days; ${megabytes()} MB are left of a quarter of them`,
);
missed += await measureProgram({
  ...{ samplesFile: kept, services: SERVICES, rawRetentionDays: Math.ceil(days / 4), sampleOf },
});
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
  const times = READINGS.map((): number[] => []);
  for (let turn = 0; turn < TURNS || (name.includes('retention') && !isDone); turn++)
    for (const [index, { everyTurns, read }] of READINGS.entries()) {
      if (turn % everyTurns !== 0) continue;
      const startedMs = performance.now();
      await read(asked, 1 + ((turn * 7_919 + index) % SERVICES));
      times[index]?.push(performance.now() - startedMs);
    }
  isOver = true;
  await working;
  const longestMs = turns.max / 1e6;
  for (const [index, { name: label, maxMedianMs }] of READINGS.entries()) {
    const sorted = (times[index] ?? []).toSorted((a, b) => a - b);
    const at = (ratio: number) => sorted[Math.floor(sorted.length * ratio)] ?? Number.NaN;
    if (at(0.5) > maxMedianMs) missed++;
    console.log(
      `${label.padEnd(40)} p50 ${at(0.5).toFixed(2)} ms, p99 ${at(0.99).toFixed(1)} ms, at most ${(sorted.at(-1) ?? 0).toFixed(0)} ms`,
    );
  }
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
