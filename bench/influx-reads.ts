/**
 * 90 days of a service by the day as its page reads them: by the InfluxDB adapter, by the bare client that lets the server compute
 * the same buckets from the samples, and by the bare client that reads the same summaries of hours and adds up their counts alone.
 * They take turns, service by service, and must agree on the number of checks.
 */
import { join } from 'node:path';
import { InfluxDB } from '@influxdata/influxdb-client';
import { DAY_MS, HOUR_MS } from '../src/domain/durations.ts';
import { spanOf } from '../src/domain/picture.ts';
import type { Sample } from '../src/domain/sample.ts';
import { silentLog } from '../src/log.ts';
import { hoursStatement } from '../src/store/samples/influx/hour-summaries.ts';
import { openInfluxSamples } from '../src/store/samples/influx/influx-samples.ts';
import { MEASUREMENT } from '../src/store/samples/influx/influx-settings.ts';
import { ask } from '../test/support/influx-server.ts';
import { type BenchRow, floor, median, ratioAtMost } from './row.ts';

const SERVICES = 10;
const ROUNDS = 6;
const STEP_MS = 300_000;
const BATCH = 5_000;
/** Hours that are not over have no summary, nor those that the server is about to delete. */
const CHECKS_WITHOUT_SUMMARY = (DAY_MS + 3 * HOUR_MS) / STEP_MS;
const MAX_RATIO = 1.2;

/** Measures reading from the server at `url`; the adapter's spool is in `folder`. */
export async function measureReads(url: string, folder: string): Promise<readonly BenchRow[]> {
  const bucket = 'reads';
  await ask(url, `CREATE DATABASE ${bucket}`);
  const now = Date.now();
  const span = spanOf('90d', now);
  const store = await openInfluxSamples({
    settings: { url, token: null, org: null, bucket, api: 'v1' },
    dataDir: join(folder, bucket),
    labelsOf: (serviceId) => ({ serviceId, slug: `service-${serviceId}`, category: 'developer' }),
    log: silentLog,
  });
  const checks = Math.floor((now - span.from) / STEP_MS);
  for (let serviceId = 1; serviceId <= SERVICES; serviceId++)
    for (let first = 0; first < checks; first += BATCH)
      await store.append(
        Array.from({ length: Math.min(BATCH, checks - first) }, (_, index) =>
          sampleOf(serviceId, span.from + (first + index) * STEP_MS, first + index),
        ),
      );
  const readByAdapter = async (serviceId: number): Promise<number> => {
    const buckets = await store.query({ serviceId, ...span });
    return buckets.reduce((sum, { count }) => sum + count, 0);
  };
  const client = new InfluxDB({ url, timeout: 30_000 });
  const askBare = async (q: string): Promise<ServerAnswer> => {
    const path = `/query?${new URLSearchParams({ db: bucket, epoch: 'ms', q })}`;
    return (await client.transport.request(path, '', { method: 'GET' })) as ServerAnswer;
  };
  const readBare = async (serviceId: number) =>
    countIn(await askBare(statementOf(serviceId, span)), ['count']);
  const readHours = async (serviceId: number) => {
    const window = `service_id = '${serviceId}' AND time >= ${span.from}ms AND time < ${span.to}ms`;
    return countIn(await askBare(hoursStatement(window)), ['up', 'slow', 'down']);
  };
  // The first read of a service summarizes its hours, as the first view of its page does.
  for (let serviceId = 1; serviceId <= SERVICES; serviceId++) await readByAdapter(serviceId);
  await store.flush();
  await untilSummarized(url, bucket, span.from, now);
  const [ours, bare, hours]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round++)
    for (let serviceId = 1; serviceId <= SERVICES; serviceId++) {
      const turns = [
        () => timed(ours, () => readByAdapter(serviceId)),
        () => timed(bare, () => readBare(serviceId)),
        () => timed(hours, () => readHours(serviceId)),
      ];
      if ((round + serviceId) % 2 === 0) turns.reverse();
      for (const turn of turns) {
        const count = await turn();
        if (count > checks || count < checks - CHECKS_WITHOUT_SUMMARY)
          throw new Error(`${count} of ${checks} checks were read`);
      }
    }
  await store.close();
  const ratio = median(ours) / median(bare);
  return [
    floor('InfluxDB: 90 days by the day, the bare client (floor)', median(bare), 'ms'),
    floor('InfluxDB: the summaries of these hours, the bare client (floor)', median(hours), 'ms'),
    ratioAtMost('InfluxDB: 90 days by the day, the adapter', median(ours), 'ms', ratio, MAX_RATIO),
  ];
}

async function timed<T>(times: number[], work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work();
  times.push(performance.now() - startedMs);
  return result;
}

/** Waits until the server has the summaries of all hours that were over. */
async function untilSummarized(url: string, bucket: string, from: number, now: number): Promise<void> {
  const expected = (Math.floor((now - DAY_MS - from) / HOUR_MS) - 1) * SERVICES;
  for (let found = 0; found < expected; ) {
    const text = await ask(url, `SELECT COUNT(valid) FROM ${bucket}..upbeat_hour`);
    const answer = JSON.parse(text) as ServerAnswer;
    found = Number(answer.results?.[0]?.series?.[0]?.values?.[0]?.[1] ?? 0);
  }
}

interface ServerAnswer {
  readonly results?: readonly {
    readonly series?: readonly {
      readonly columns: readonly string[];
      readonly values: readonly (readonly (number | null)[])[];
    }[];
  }[];
}

/** What a bucket of the page says, computed by the server from the samples. */
function statementOf(
  serviceId: number,
  { from, to }: { readonly from: number; readonly to: number },
): string {
  const where = `service_id = '${serviceId}' AND time >= ${from}ms AND time < ${to}ms`;
  const groups = 'GROUP BY time(1d) FILL(none)';
  const ranks = [50, 95, 99].map((rank) => `PERCENTILE(latency_ms, ${rank}) AS p${rank}`).join(', ');
  return [
    `SELECT COUNT(up) AS count, SUM(up) AS up, SUM(slow) AS slow, SUM(down) AS down FROM ${MEASUREMENT} WHERE ${where} AND suspect = 0 ${groups}`,
    `SELECT COUNT(suspect) AS count FROM ${MEASUREMENT} WHERE ${where} AND suspect = 1 ${groups}`,
    `SELECT MEAN(latency_ms) AS mean, ${ranks} FROM ${MEASUREMENT} WHERE ${where} AND suspect = 0 AND timed = 1 ${groups}`,
  ].join(';');
}

function countIn(answer: ServerAnswer, names: readonly string[]): number {
  const [table] = answer.results?.[0]?.series ?? [];
  const places = names.map((name) => table?.columns.indexOf(name) ?? -1);
  return (table?.values ?? []).reduce(
    (sum, row) => places.reduce((all, place) => all + Number(row[place] ?? 0), sum),
    0,
  );
}

function sampleOf(serviceId: number, at: number, seed: number): Sample {
  return {
    serviceId,
    at,
    status: 'up',
    latencyMs: 80 + (Math.imul(seed ^ serviceId, 0x9e3779b1) >>> 24),
    statusCode: 200,
    suspect: false,
  };
}
