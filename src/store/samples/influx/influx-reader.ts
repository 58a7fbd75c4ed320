/**
 * Reading by InfluxQL. Every number in a statement is a whole number of our own, so that nothing of a client's input
 * ever stands in one, and every statement is bounded in time.
 */
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { createBucketing } from '../bucketing.ts';
import { packRest } from '../wire.ts';
import { InfluxError } from './influx-fault.ts';
import type { InfluxLink, InfluxTable } from './influx-link.ts';
import { MEASUREMENT } from './influx-settings.ts';

/** Longer windows are summed up by the server; its percentiles round their rank to the nearest instead of upwards. */
const EXACT_MS = 92 * 86_400_000;

const FIELDS = 'up, slow, suspect, timed, latency_ms, status_code';

/** Every bucket of the window in order, empty ones included. Throws a RangeError for a window without an answer. */
export async function queryBuckets(link: Pick<InfluxLink, 'query'>, query: SampleQuery): Promise<Bucket[]> {
  const bucketing = createBucketing(query);
  const { from, to } = query;
  if (to - from > EXACT_MS) return await querySummed(link, query, bucketing.buckets());
  const [table] = await select(link, [`SELECT ${FIELDS} FROM ${MEASUREMENT} WHERE ${where(query)}`]);
  const samples = table === undefined || table === null ? [] : readSamples(query.serviceId, table);
  bucketing.addSeries({ times: samples.map(({ at }) => at), rests: samples.map(packRest) });
  return bucketing.buckets();
}

/** Newest samples, newest first. */
export async function queryNewest(
  link: Pick<InfluxLink, 'query'>,
  serviceId: number,
  limit: number,
): Promise<Sample[]> {
  const [table] = await select(link, [
    `SELECT ${FIELDS} FROM ${MEASUREMENT} WHERE service_id = '${whole(serviceId)}' ORDER BY time DESC LIMIT ${whole(limit)}`,
  ]);
  return table === undefined || table === null ? [] : readSamples(serviceId, table);
}

async function querySummed(
  link: Pick<InfluxLink, 'query'>,
  query: SampleQuery,
  empty: readonly Bucket[],
): Promise<Bucket[]> {
  const { from, stepMs } = query;
  const groups = `GROUP BY time(${whole(stepMs)}ms, ${whole(from % stepMs)}ms) FILL(none)`;
  const counts = 'COUNT(up) AS count, SUM(up) AS up, SUM(slow) AS slow, SUM(down) AS down';
  const ranks = [50, 95, 99].map((rank) => `PERCENTILE(latency_ms, ${rank}) AS p${rank}`).join(', ');
  const [trusted, suspect, timed] = await select(link, [
    `SELECT ${counts} FROM ${MEASUREMENT} WHERE ${where(query)} AND suspect = 0 ${groups}`,
    `SELECT COUNT(suspect) AS count FROM ${MEASUREMENT} WHERE ${where(query)} AND suspect = 1 ${groups}`,
    `SELECT MEAN(latency_ms) AS mean, ${ranks} FROM ${MEASUREMENT} WHERE ${where(query)} AND suspect = 0 AND timed = 1 ${groups}`,
  ]);
  const [byCount, bySuspect, byTime] = [trusted, suspect, timed].map((table) => byStart(table ?? null));
  return empty.map((bucket) => {
    const counted = byCount?.get(bucket.startAt) ?? {};
    const latency = byTime?.get(bucket.startAt) ?? {};
    const count = counted.count ?? 0;
    const upCount = counted.up ?? 0;
    const slowCount = counted.slow ?? 0;
    return {
      ...bucket,
      count,
      upCount,
      slowCount,
      downCount: counted.down ?? 0,
      suspectCount: bySuspect?.get(bucket.startAt)?.count ?? 0,
      uptimeRatio: count === 0 ? null : (upCount + slowCount) / count,
      meanMs: latency.mean ?? null,
      p50Ms: latency.p50 ?? null,
      p95Ms: latency.p95 ?? null,
      p99Ms: latency.p99 ?? null,
    };
  });
}

/**
 * Asks for points. VictoriaMetrics answers every statement with a list of databases: without a look at the columns that
 * would pass for a history without a single check.
 */
async function select(
  link: Pick<InfluxLink, 'query'>,
  statements: readonly string[],
): Promise<(InfluxTable | null)[]> {
  const tables = await link.query(statements);
  if (tables.some((table) => table !== null && !table.columns.includes('time')))
    throw new InfluxError('no_influxql', 'the server takes points, and does not answer InfluxQL');
  return tables;
}

function where({ serviceId, from, to }: SampleQuery): string {
  return `service_id = '${whole(serviceId)}' AND time >= ${whole(from)}ms AND time < ${whole(to)}ms`;
}

function whole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`);
  return value;
}

function readSamples(serviceId: number, table: InfluxTable): Sample[] {
  return rowsOf(table).map((row) => ({
    serviceId,
    at: row.time ?? 0,
    status: row.up === 1 ? 'up' : row.slow === 1 ? 'slow' : 'down',
    latencyMs: row.timed === 1 ? (row.latency_ms ?? null) : null,
    statusCode: row.status_code ?? 0,
    suspect: row.suspect === 1,
  }));
}

type Row = Readonly<Record<string, number | null | undefined>>;

function rowsOf({ columns, rows }: InfluxTable): Row[] {
  return rows.map((values) =>
    Object.fromEntries(
      columns.map((column, index) => {
        const value = values[index];
        return [column, typeof value === 'number' ? value : null];
      }),
    ),
  );
}

function byStart(table: InfluxTable | null): ReadonlyMap<number, Row> {
  return new Map(table === null ? [] : rowsOf(table).map((row) => [row.time ?? 0, row]));
}
