/**
 * The InfluxDB adapter compared with the bare client that writes the same lines, and with the one that reads the same days
 * (`influx-reads.ts`): `node bench/influx.ts`. It starts Debian's
 * influxd on a free port; without one there are no rows. The two take turns, each round into a database of its own, which
 * ends when the server has stored everything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InfluxDB } from '@influxdata/influxdb-client';
import type { Sample } from '../src/domain/sample.ts';
import { silentLog } from '../src/log.ts';
import { packSamples } from '../src/store/samples/encoding.ts';
import { openInfluxSamples } from '../src/store/samples/influx/influx-samples.ts';
import { createLineWriter } from '../src/store/samples/influx/line-protocol.ts';
import { ask, startInflux } from '../test/support/influx-server.ts';
import { hasProgram } from '../test/support/install-servers.ts';
import { measureReads } from './influx-reads.ts';
import { type BenchRow, floor, median, printRows, ratioAtLeast } from './row.ts';

const SERVICES = 1_000;
/** Checks of every service in a round of the benchmark. */
const CHECKS = 170;
const ROUNDS = 8;
const BATCH = 5_000;
/** Samples of a round before the measurement, because each round starts a new thread of the adapter. */
const WARM = 20 * SERVICES;
const STEP_MS = 300_000;
const MIN_RATIO = 0.85;

/** Runs the benchmark, prints its table and returns its lines. Takes about half a minute. */
export async function run(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-influx-'));
  if (!hasProgram('influxd')) {
    console.log('influxd is not installed: apt-get install influxdb');
    return [];
  }
  const server = await startInflux({ teardown() {} }, { folder });
  const { url } = server;
  const bare: number[] = [];
  const adapter: number[] = [];
  let reads: readonly BenchRow[] = [];
  try {
    reads = await measureReads(url, folder);
    const samples = makeSamples();
    const turns = [
      async (round: number) => {
        bare.push(await writeBare(url, await makeDatabase(url, `bare${round}`), samples));
      },
      async (round: number) => {
        const database = await makeDatabase(url, `adapter${round}`);
        adapter.push(await writeByAdapter(url, database, samples, join(folder, database)));
      },
    ];
    for (let round = 0; round < ROUNDS; round++) {
      // The server still sorts the data of the first writer of a round while the second one writes, so the order alternates.
      for (const turn of turns) await turn(round);
      turns.reverse();
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const [rate, ours] = [median(bare), median(adapter)];
  const rows = [
    floor('InfluxDB: the bare client, the same lines (floor)', rate, 'writes/s'),
    ratioAtLeast(
      'InfluxDB: the adapter, spool and thread included',
      ours,
      'writes/s',
      ours / rate,
      MIN_RATIO,
    ),
    ...reads,
  ];
  return printRows(rows);
}

/** Writes by the client's own buffer, as in its documentation; returns points per second. */
async function writeBare(url: string, database: string, samples: readonly Sample[]): Promise<number> {
  const client = new InfluxDB({ url, timeout: 30_000 });
  let stored = 0;
  let failed: Error | null = null;
  let notify: () => void = () => {};
  const writeApi = client.getWriteApi('', database, 'ms', {
    batchSize: BATCH,
    maxRetries: 0,
    gzipThreshold: Number.MAX_SAFE_INTEGER,
    flushInterval: 0,
    writeSuccess(lines) {
      stored += lines.length;
      notify();
    },
    writeFailed(error) {
      failed = error;
      notify();
      return Promise.resolve();
    },
  });
  Object.assign(writeApi, { path: `/write?db=${database}&precision=ms` });
  const lines = createLineWriter();
  lines.name(Array.from({ length: SERVICES }, (_, index) => labelsOf(index + 1)));
  const until = async (count: number): Promise<void> => {
    while (stored < count && failed === null)
      await new Promise<void>((resolve) => {
        notify = resolve;
      });
  };
  const write = async (from: number, to: number): Promise<void> => {
    for (let at = from; at < to; at += BATCH) {
      writeApi.writeRecords(lines.write(packSamples(samples.slice(at, at + BATCH)), null));
      // One batch is in flight while the next is made.
      await until(at);
    }
    await writeApi.flush();
    await until(to);
  };
  await write(0, WARM);
  const startedMs = performance.now();
  await write(WARM, samples.length);
  const seconds = (performance.now() - startedMs) / 1_000;
  await writeApi.close();
  if (failed !== null) throw failed;
  return (samples.length - WARM) / seconds;
}

async function writeByAdapter(
  url: string,
  bucket: string,
  samples: readonly Sample[],
  dataDir: string,
): Promise<number> {
  const store = await openInfluxSamples({
    settings: { url, token: null, org: null, bucket, api: 'v1' },
    dataDir,
    labelsOf,
    log: silentLog,
  });
  const write = async (from: number, to: number): Promise<void> => {
    let taken = Promise.resolve();
    for (let at = from; at < to; at += BATCH) {
      // One batch is in flight while the next is made.
      await taken;
      taken = store.append(samples.slice(at, at + BATCH));
    }
    await store.flush();
  };
  await write(0, WARM);
  const startedMs = performance.now();
  await write(WARM, samples.length);
  const seconds = (performance.now() - startedMs) / 1_000;
  const { pending } = store.stats();
  const lost = store.lost();
  await store.close();
  if (pending > 0 || lost > 0) throw new Error(`${pending} points wait and ${lost} are lost`);
  return (samples.length - WARM) / seconds;
}

function labelsOf(serviceId: number) {
  return { serviceId, slug: `service-${serviceId}`, category: 'developer' };
}

function makeSamples(): Sample[] {
  const start = Math.floor(Date.now() / STEP_MS) * STEP_MS - CHECKS * STEP_MS;
  return Array.from({ length: SERVICES * CHECKS }, (_, index) => ({
    serviceId: 1 + (index % SERVICES),
    at: start + Math.floor(index / SERVICES) * STEP_MS + (index % SERVICES),
    status: 'up' as const,
    latencyMs: 80 + (Math.imul(index, 0x9e3779b1) >>> 24),
    statusCode: 200,
    suspect: false,
  }));
}

async function makeDatabase(url: string, name: string): Promise<string> {
  await ask(url, `CREATE DATABASE ${name}`);
  return name;
}

if (import.meta.main) await run();
