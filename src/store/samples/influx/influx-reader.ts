/**
 * Reading by InfluxQL. Every number in a statement is a whole number of our own, so that nothing of a client's input
 * ever stands in one, and every statement is bounded in time.
 */
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import type { Series } from '../block.ts';
import { createBucketing } from '../bucketing.ts';
import { packRest } from '../wire.ts';
import { type HourSummary, hourOf, hoursStatement, readHours, summariseHour } from './hour-summary.ts';
import { InfluxError } from './influx-fault.ts';
import type { InfluxLink, InfluxTable } from './influx-link.ts';
import { MEASUREMENT } from './influx-settings.ts';

/** What the reader may use of summed up hours beside the link. */
export interface HourKeeping {
  /** Hours that start before this are complete at the server, epoch milliseconds. */
  readonly completeBefore: number;
  /** Takes the summary of an hour that had none. */
  keep(serviceId: number, hour: number, summary: HourSummary): void;
}

/** Shorter windows are read from the samples alone. */
const SHORT_MS = 2 * DAY_MS;
/** Longer windows may be summed up by the server, whose percentiles round their rank to the nearest instead of upwards. */
const EXACT_MS = 92 * DAY_MS;
/** Samples of such a window that are not summed up by hours; of more, the server does it. */
const MAX_LOOSE_SAMPLES = 200_000;
/** Samples, and statements, of a request: they bound its memory. */
const MAX_SAMPLES = 20_000;
const MAX_STATEMENTS = 100;
/** Taken for the samples of an hour where they were not counted. */
const SAMPLES_AN_HOUR = 400;
/** Summaries are asked for so many hours at a time. */
const HOURS_AT_ONCE = 92 * 24;

const FIELDS = 'up, slow, suspect, timed, latency_ms, status_code';

/** A part of the window, and about how many samples it has. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
}

/**
 * Every bucket of the window in order, empty ones included: from summed up hours where they lie in one bucket, and from
 * samples elsewhere. `hours` null: summaries are read and none is made. Throws a RangeError for a window without an
 * answer.
 */
export async function queryBuckets(
  link: Pick<InfluxLink, 'query'>,
  query: SampleQuery,
  hours: HourKeeping | null = null,
): Promise<Bucket[]> {
  const bucketing = createBucketing(query);
  const { serviceId, from, to, stepMs } = query;
  const known = new Set<number>();
  const used = new Set<number>();
  const isByHours = to - from > SHORT_MS && stepMs >= HOUR_MS;
  const [first, end] = isByHours ? [hourOf(from + HOUR_MS - 1), hourOf(to)] : [0, 0];
  for (let start = first; start < end; start += HOURS_AT_ONCE * HOUR_MS) {
    const until = Math.min(end, start + HOURS_AT_ONCE * HOUR_MS);
    const [table] = await select(link, [hoursStatement(whole(serviceId), whole(start), whole(until))]);
    for (const [hour, summary] of readHours(table ?? null)) {
      known.add(hour);
      if (!bucketing.holds(hour, HOUR_MS)) continue;
      bucketing.addCounted(hour, summary);
      used.add(hour);
    }
  }
  const loose = await sizesOf(link, serviceId, gapsOf(from, to, used));
  const count = loose.reduce((sum, { samples }) => sum + samples, 0);
  if (to - from > EXACT_MS && count > MAX_LOOSE_SAMPLES)
    return await querySummed(link, query, createBucketing(query).buckets());
  for (const spans of requestsOf(loose)) {
    for (const { span, series } of await readSpans(link, serviceId, spans)) {
      bucketing.addSeries(series);
      if (hours !== null && isByHours) keepHours(hours, serviceId, span, series, known);
    }
  }
  return bucketing.buckets();
}

/** Parts of `[from, to)` outside of the given hours, in their order; none is across the start of its first whole hour. */
function gapsOf(from: number, to: number, hours: ReadonlySet<number>): Pick<Span, 'from' | 'to'>[] {
  if (hours.size === 0) return [{ from, to }];
  const gaps: Pick<Span, 'from' | 'to'>[] = [];
  const firstWhole = Math.min(to, hourOf(from + HOUR_MS - 1));
  if (firstWhole > from) gaps.push({ from, to: firstWhole });
  for (let at = firstWhole; at < to; ) {
    const start = at;
    while (at < to && !hours.has(at)) at += HOUR_MS;
    if (at > start) gaps.push({ from: start, to: Math.min(to, at) });
    while (at < to && hours.has(at)) at += HOUR_MS;
  }
  return gaps;
}

/** Long spans divided into days of UTC, those without a sample left out. */
async function sizesOf(
  link: Pick<InfluxLink, 'query'>,
  serviceId: number,
  spans: readonly Pick<Span, 'from' | 'to'>[],
): Promise<Span[]> {
  const sized: Span[] = [];
  for (const { from, to } of spans) {
    if (to - from <= DAY_MS) {
      sized.push({ from, to, samples: Math.ceil(((to - from) / HOUR_MS) * SAMPLES_AN_HOUR) });
      continue;
    }
    const [table] = await select(link, [
      `SELECT COUNT(up) AS count FROM ${MEASUREMENT} WHERE ${where({ serviceId, from, to })} GROUP BY time(1d) FILL(none)`,
    ]);
    for (const { time, count } of table === undefined || table === null ? [] : rowsOf(table)) {
      const [start, samples] = [time ?? 0, count ?? 0];
      if (samples > 0) sized.push({ from: Math.max(from, start), to: Math.min(to, start + DAY_MS), samples });
    }
  }
  return sized;
}

/** Spans that are asked for together. */
function requestsOf(spans: readonly Span[]): Span[][] {
  const requests: Span[][] = [];
  let room = 0;
  for (const span of spans) {
    const last = requests.at(-1);
    if (last === undefined || span.samples > room || last.length >= MAX_STATEMENTS) {
      requests.push([span]);
      room = MAX_SAMPLES - span.samples;
    } else {
      last.push(span);
      room -= span.samples;
    }
  }
  return requests;
}

async function readSpans(
  link: Pick<InfluxLink, 'query'>,
  serviceId: number,
  spans: readonly Span[],
): Promise<{ readonly span: Span; readonly series: Series }[]> {
  const tables = await select(
    link,
    spans.map(
      ({ from, to }) => `SELECT ${FIELDS} FROM ${MEASUREMENT} WHERE ${where({ serviceId, from, to })}`,
    ),
  );
  return spans.map((span, place) => {
    const table = tables[place] ?? null;
    const samples = table === null ? [] : readSamples(serviceId, table);
    return { span, series: { times: samples.map(({ at }) => at), rests: samples.map(packRest) } };
  });
}

/** Sums up the hours of a span that are complete and have no summary yet. */
function keepHours(
  { completeBefore, keep }: HourKeeping,
  serviceId: number,
  span: Span,
  { times, rests }: Series,
  known: ReadonlySet<number>,
): void {
  const byHour = new Map<number, number[]>();
  for (const [place, at] of times.entries()) {
    const hour = hourOf(at);
    if (hour < span.from || hour + HOUR_MS > span.to || hour >= completeBefore || known.has(hour)) continue;
    const list = byHour.get(hour);
    if (list === undefined) byHour.set(hour, [rests[place] as number]);
    else list.push(rests[place] as number);
  }
  for (const [hour, list] of byHour) keep(serviceId, hour, summariseHour(list));
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

function where({ serviceId, from, to }: Pick<SampleQuery, 'serviceId' | 'from' | 'to'>): string {
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
