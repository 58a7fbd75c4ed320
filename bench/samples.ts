/**
 * The embedded sample store compared with a table of samples in SQLite: `node bench/samples.ts`. It writes a million samples
 * of a thousand services in order of time, one of each service every five minutes. Queries read a service that is checked from
 * one region, and one that is checked from three.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Sample } from '../src/domain/sample.ts';
import { silentLog } from '../src/log.ts';
import type { SampleQuery } from '../src/store/ports/samples.ts';
import { openSamples } from '../src/store/samples/sqlite-samples.ts';
import { atLeast, atMost, type BenchRow, floor, median, printRows, ratioAtMost } from './row.ts';

const SERVICES = 1_000;
const ROUNDS = 1_000;
const PLAIN_ROUNDS = 200;
const STEP_MS = 300_000;
const DAY_MS = 86_400_000;
const QUARTER_DAYS = 90;
const YEAR_DAYS = 365;
const REGIONS = ['ap', 'eu', 'us'];

/** Measures both. */
export async function run(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-'));
  const start = Math.floor(Date.now() / DAY_MS) * DAY_MS - QUARTER_DAYS * DAY_MS;
  const store = await openSamples({
    dataDir: folder,
    rawRetentionMs: 400 * DAY_MS,
    rollupRetentionMs: 800 * DAY_MS,
    log: silentLog,
  });
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    const taken = store.append(roundOf(round, start));
    // As in the record, results do not wait for a write, but the number of waiting ones is bounded.
    if (round % 100 === 99) await taken;
  }
  await store.flush();
  const seconds = (performance.now() - startedMs) / 1_000;
  await store.compact();
  const { user, system } = process.cpuUsage(cpuBefore);
  const total = SERVICES * ROUNDS;

  // One more service with a year of samples, as its page queries them.
  const end = start + QUARTER_DAYS * DAY_MS;
  const first = end - YEAR_DAYS * DAY_MS;
  const samples = (YEAR_DAYS * DAY_MS) / STEP_MS;
  await store.append(
    Array.from({ length: samples }, (_, index) => sampleOf(SERVICES + 1, first + index * STEP_MS, index)),
  );
  // And one with a quarter of samples from each of three regions, a third of the interval apart.
  const regional = (QUARTER_DAYS * DAY_MS) / STEP_MS;
  for (const [place, region] of REGIONS.entries())
    await store.append(
      Array.from({ length: regional }, (_, index) => ({
        ...sampleOf(SERVICES + 2, start + index * STEP_MS + (place * STEP_MS) / REGIONS.length, index),
        region,
      })),
    );
  await store.compact();
  const timeOf = async (days: number, stepMs: number, more: Partial<SampleQuery> = {}): Promise<number> => {
    const query = { serviceId: SERVICES + 1, from: end - days * DAY_MS, to: end, stepMs, ...more };
    const expected = ((days * DAY_MS) / STEP_MS) * (query.serviceId === SERVICES + 1 || more.region ? 1 : 3);
    const times: number[] = [];
    for (let turn = 0; turn < 60; turn++) {
      const before = performance.now();
      const buckets = await store.query(query);
      times.push(performance.now() - before);
      if (buckets.reduce((sum, { count }) => sum + count, 0) !== expected)
        throw new Error('samples are missing');
    }
    return median(times);
  };
  const day = await timeOf(1, DAY_MS / 96);
  const quarter = await timeOf(QUARTER_DAYS, DAY_MS);
  const year = await timeOf(YEAR_DAYS, DAY_MS);
  const ofThree = { serviceId: SERVICES + 2 };
  const three = await timeOf(QUARTER_DAYS, DAY_MS, ofThree);
  const oneOfThree = await timeOf(QUARTER_DAYS, DAY_MS, {
    ...ofThree,
    region: { region: 'eu', takesUnnamed: false },
  });
  await store.close();
  const bytes = folderBytes(folder) / (total + samples + REGIONS.length * regional);
  rmSync(folder, { recursive: true, force: true });

  const plain = writePlain(start);
  const rate = total / seconds;
  const rows = [
    floor('samples: a row a sample in SQLite (floor)', plain.rate, 'writes/s'),
    floor('samples: a row a sample in SQLite (floor)', plain.bytes, 'bytes a sample'),
    atLeast('samples: writes, journal included', rate, 'writes/s', 400_000, rate / plain.rate),
    floor('samples: CPU of all threads, blocks included', (user + system) / total, 'µs a sample'),
    atMost('samples: on disk', bytes, 'bytes a sample', 9, bytes / plain.bytes),
    floor('samples: a day of a service by the quarter of an hour', day, 'ms'),
    atMost('samples: 90 days of a service by the day', quarter, 'ms', 6),
    atMost('samples: 90 days of a service in three regions by the day', three, 'ms', 18),
    atMost('samples: 90 days of one of three regions by the day', oneOfThree, 'ms', 6),
    ratioAtMost('samples: a year of a service by the day, beside 90 days', year, 'ms', year / quarter, 1),
  ];
  return printRows(rows);
}

function roundOf(round: number, start: number): Sample[] {
  return Array.from({ length: SERVICES }, (_, index) => {
    // Checks keep their phase within a few milliseconds, and the latencies of a service vary around a mean.
    const phase = (index * 7_919) % STEP_MS;
    return sampleOf(index + 1, start + round * STEP_MS + phase + ((round * 31 + index) % 9), round + index);
  });
}

function sampleOf(serviceId: number, at: number, seed: number): Sample {
  const noise = (Math.imul(seed ^ serviceId, 0x9e3779b1) >>> 8) % 60;
  const isBad = noise === 7 && seed % 50 === 0;
  return {
    serviceId,
    at,
    suspect: false,
    status: isBad ? 'down' : 'up',
    latencyMs: isBad ? null : 80 + (serviceId % 400) + noise,
    statusCode: isBad ? 503 : 200,
  };
}

function writePlain(start: number): { readonly rate: number; readonly bytes: number } {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-plain-'));
  const database = new DatabaseSync(join(folder, 'plain.sqlite'));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE samples (service INTEGER, at INTEGER, status INTEGER, latency INTEGER, code INTEGER, PRIMARY KEY (service, at)) WITHOUT ROWID`);
  const insert = database.prepare('INSERT INTO samples VALUES (?, ?, ?, ?, ?)');
  const startedMs = performance.now();
  for (let round = 0; round < PLAIN_ROUNDS; round++) {
    database.exec('BEGIN');
    for (const { serviceId, at, latencyMs, statusCode } of roundOf(round, start))
      insert.run(serviceId, at, 0, latencyMs, statusCode);
    database.exec('COMMIT');
  }
  const seconds = (performance.now() - startedMs) / 1_000;
  database.close();
  const bytes = folderBytes(folder) / (SERVICES * PLAIN_ROUNDS);
  rmSync(folder, { recursive: true, force: true });
  return { rate: (SERVICES * PLAIN_ROUNDS) / seconds, bytes };
}

function folderBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

if (import.meta.main) await run();
