/**
 * The heat map of a year of 1,200 services as the first request after a start gets it: `node bench/heatmap.ts`. The embedded store
 * has the summaries of the days that are over and the samples of today; nothing of it is cached in the process.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_MS } from '../src/domain/durations.ts';
import { MAX_HEATMAP_SERVICES, spanOf } from '../src/domain/picture.ts';
import { silentLog } from '../src/log.ts';
import { drawHeatmap } from '../src/render/heatmap.ts';
import { encodeBlock, packOutcome } from '../src/store/samples/encoding.ts';
import { KEY_DAYS, openSamplesDatabase } from '../src/store/samples/samples-database.ts';
import { openSamples } from '../src/store/samples/sqlite-samples.ts';
import { addSample, emptySummary, encodeDay } from '../src/store/samples/summary.ts';
import { createHeatmapReader } from '../src/view/heatmap-cells.ts';
import { atMost, type BenchRow, floor, median, printRows } from './row.ts';

const CHECKS_A_DAY = 288;
const ROUNDS = 3;
/** Wanted from the request to the picture, milliseconds. */
const COLD_MS = 300;

/** Measures reading and drawing. Takes about a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const asOf = Date.now();
  const span = spanOf('1y', asOf);
  writeDays(dataDir, span.from / DAY_MS, span.to / DAY_MS - 1);
  const ids = Array.from({ length: MAX_HEATMAP_SERVICES }, (_, index) => index + 1);
  const [reads, draws, wholes]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const store = await openSamples({
      ...{ dataDir, rawRetentionMs: 90 * DAY_MS, rollupRetentionMs: 800 * DAY_MS, log: silentLog },
    });
    const startedMs = performance.now();
    const cells = await createHeatmapReader(store)(ids, '1y', span);
    const readMs = performance.now() - startedMs;
    const rows = ids.map((id) => ({ name: `Service ${id}`, domain: `service-${id}.example` }));
    const groups = [{ title: 'Cloud', rows }];
    const total = ids.length;
    await drawHeatmap({ window: '1y', span, groups, cells, total, asOf, missingSince: null, theme: 'light' });
    const wholeMs = performance.now() - startedMs;
    reads.push(readMs);
    draws.push(wholeMs - readMs);
    wholes.push(wholeMs);
    await store.close();
  }
  rmSync(dataDir, { recursive: true, force: true });
  return printRows([
    floor('heat map of a year, 1,200 services: cells read after a start', median(reads), 'ms'),
    floor('heat map of a year, 1,200 services: drawn', median(draws), 'ms'),
    atMost('heat map of a year, 1,200 services: first one after a start', median(wholes), 'ms', COLD_MS),
  ]);
}

/** Fills a store with the summaries of days of a check every five minutes, and with the samples of the first half of `today`. */
function writeDays(dataDir: string, firstDay: number, today: number): void {
  const outcomesOf = (seed: number) =>
    Array.from({ length: CHECKS_A_DAY }, (_, check) =>
      packOutcome({
        status: 'up',
        latencyMs: 80 + ((check * 31 + seed * 17) % 97) + seed * 8,
        statusCode: 200,
        suspect: false,
      }),
    );
  const seeds = Array.from({ length: 64 }, (_, seed) => outcomesOf(seed));
  const days = seeds.map((outcomes) => {
    const summary = emptySummary();
    for (const outcome of outcomes) addSample(summary, outcome);
    return encodeDay(summary);
  });
  const blocks = seeds.map((all) => {
    const outcomes = all.slice(0, CHECKS_A_DAY / 2);
    const times = outcomes.map((_, check) => today * DAY_MS + (check * DAY_MS) / CHECKS_A_DAY);
    return encodeBlock({ times, outcomes });
  });
  const database = openSamplesDatabase(dataDir);
  const none = new Uint8Array();
  database.transaction(() => {
    for (let id = 1; id <= MAX_HEATMAP_SERVICES; id++) {
      for (let day = firstDay; day < today; day++)
        database.putSummaries(id * KEY_DAYS + day, none, days[(id * 7 + day) % days.length] ?? none);
      database.putBlock(id * KEY_DAYS + today, blocks[id % blocks.length] ?? none);
    }
  });
  database.close();
}

if (import.meta.main) await run();
