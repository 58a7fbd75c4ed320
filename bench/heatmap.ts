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
import { encodeBlock, packOutcome, seriesOf } from '../src/store/samples/encoding.ts';
import { KEY_DAYS, openSamplesDatabase } from '../src/store/samples/samples-database.ts';
import { openSamples } from '../src/store/samples/sqlite-samples.ts';
import { addSample, emptySummary, encodeDay } from '../src/store/samples/summary.ts';
import { createHeatmapReader } from '../src/view/heatmap-cells.ts';
import { atMost, type BenchRow, floor, median, printRows } from './row.ts';

const CHECKS_A_DAY = 288;
const ROUNDS = 3;
/** Wanted from the request to the picture, milliseconds. */
const COLD_MS = 300;

/** Regions of the second store: as many as most installations with several have. */
const REGIONS = 3;

/** Measures reading and drawing of a store without regions and of one with three. Takes about two minutes. */
export async function run(): Promise<readonly BenchRow[]> {
  return printRows([...(await measure(1, '')), ...(await measure(REGIONS, `, ${REGIONS} regions`))]);
}

async function measure(regions: number, which: string): Promise<BenchRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const asOf = Date.now();
  const span = spanOf('1y', asOf);
  writeDays(dataDir, span.from / DAY_MS, span.to / DAY_MS - 1, regions);
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
  return [
    floor(`heat map of a year, 1,200 services${which}: cells read after a start`, median(reads), 'ms'),
    floor(`heat map of a year, 1,200 services${which}: drawn`, median(draws), 'ms'),
    atMost(
      `heat map of a year, 1,200 services${which}: first one after a start`,
      median(wholes),
      'ms',
      COLD_MS,
    ),
  ];
}

/**
 * Fills a store with the summaries of days of a check every five minutes, and with the samples of the first half of `today`. With several
 * regions each service has a series of each; it is down in one of them on one day of a hundred.
 */
function writeDays(dataDir: string, firstDay: number, today: number, regions: number): void {
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
  const summarize = (outcomes: readonly number[]) => {
    const summary = emptySummary();
    for (const outcome of outcomes) addSample(summary, outcome);
    return encodeDay(summary);
  };
  const days = seeds.map(summarize);
  const badDay = summarize(
    Array<number>(CHECKS_A_DAY).fill(
      packOutcome({ status: 'down', latencyMs: null, statusCode: 0, suspect: false }),
    ),
  );
  const blocks = seeds.map((all) => {
    const outcomes = all.slice(0, CHECKS_A_DAY / 2);
    const times = outcomes.map((_, check) => today * DAY_MS + (check * DAY_MS) / CHECKS_A_DAY);
    return encodeBlock({ times, outcomes });
  });
  const database = openSamplesDatabase(dataDir);
  const none = new Uint8Array();
  database.transaction(() => {
    for (let region = 1; region < regions; region++) database.putRegion(region, `region ${region}`);
    for (let id = 1; id <= MAX_HEATMAP_SERVICES; id++)
      for (let region = 0; region < regions; region++) {
        const first = seriesOf(id, region) * KEY_DAYS;
        for (let day = firstDay; day < today; day++) {
          const isBad = region === 1 && (id + day) % 100 === 0;
          const summary = isBad ? badDay : days[(id * 7 + day) % days.length];
          database.putSummaries(first + day, none, summary ?? none);
        }
        database.putBlock(first + today, blocks[id % blocks.length] ?? none);
      }
  });
  database.close();
}

if (import.meta.main) await run();
