/**
 * Reads samples by InfluxQL. Statements contain whole numbers only and no input of clients, and every statement is
 * bounded in time.
 */
import { getOrInsert } from '../../../async/bounded-map.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { type CountedSamples, createBucketing } from '../bucketing.ts';
import { packOutcome, type Series } from '../encoding.ts';
import { hourOf, hoursStatement, readHours, summarizeHour } from './hour-summaries.ts';
import { type InfluxLink, type InfluxTable, numberReader } from './influx-link.ts';
import { InfluxError, MEASUREMENT } from './influx-settings.ts';

/** The summaries of hours that a reader may write. */
export interface HourSummaryWriter {
  /** Hours that start before this are complete at the server, epoch milliseconds. */
  readonly completeBefore: number;
  /** Stores the summary of an hour that has none. */
  store(serviceId: number, hour: number, summary: CountedSamples): void;
}

/** Shorter windows are read from the samples alone. */
const SHORT_MS = 2 * DAY_MS;
/** Longer windows may be summarized by the server, whose percentiles round their rank to the nearest instead of upwards. */
const EXACT_MS = 92 * DAY_MS;
/** With more samples outside of summarized hours than this, the server summarizes such a window. */
const MAX_LOOSE_SAMPLES = 200_000;
/** Bounds of one request, so that its memory is bounded. */
const MAX_SAMPLES = 20_000;
const MAX_STATEMENTS = 100;
/** Estimate of the samples of an hour that were not counted. */
const SAMPLES_AN_HOUR = 400;
/** Maximum number of hours whose summaries are requested at a time. */
const HOURS_AT_ONCE = 92 * 24;

const FIELDS = 'up, slow, suspect, timed, latency_ms, status_code';

/** A part of the window, and about how many samples it has. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly samples: number;
}

/**
 * Every bucket of the window in order, empty ones included: from summaries of hours that lie in one bucket, and from
 * samples elsewhere. `hours` null: no summaries are written. Throws a RangeError for a window that cannot be answered.
 */
export async function queryBuckets(
  link: Pick<InfluxLink, 'query'>,
  query: SampleQuery,
  hours: HourSummaryWriter | null = null,
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
      if (hours !== null && isByHours) storeHours(hours, serviceId, span, series, known);
    }
  }
  return bucketing.buckets();
}

/** Parts of `[from, to)` outside of the given hours, in order; none spans the start of the first whole hour. */
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

/** Divides long spans into days of UTC and omits those without samples. */
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
    if (table === undefined || table === null) continue;
    const read = numberReader(table);
    for (const row of table.rows) {
      const [start, samples] = [read(row, 'time') ?? 0, read(row, 'count') ?? 0];
      if (samples > 0) sized.push({ from: Math.max(from, start), to: Math.min(to, start + DAY_MS), samples });
    }
  }
  return sized;
}

/** Groups spans into requests. */
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
    return { span, series: { times: samples.map(({ at }) => at), outcomes: samples.map(packOutcome) } };
  });
}

/** Stores summaries of the hours of a span that are complete and have none. */
function storeHours(
  { completeBefore, store }: HourSummaryWriter,
  serviceId: number,
  span: Span,
  { times, outcomes }: Series,
  known: ReadonlySet<number>,
): void {
  const byHour = new Map<number, number[]>();
  for (const [place, at] of times.entries()) {
    const hour = hourOf(at);
    if (hour < span.from || hour + HOUR_MS > span.to || hour >= completeBefore || known.has(hour)) continue;
    getOrInsert(byHour, hour, () => []).push(outcomes[place] as number);
  }
  for (const [hour, list] of byHour) store(serviceId, hour, summarizeHour(list));
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
  const [counted, suspected, measured] = [trusted, suspect, timed].map((table) => groupReader(table ?? null));
  return empty.map((bucket) => {
    const { startAt } = bucket;
    const count = counted?.(startAt, 'count') ?? 0;
    const upCount = counted?.(startAt, 'up') ?? 0;
    const slowCount = counted?.(startAt, 'slow') ?? 0;
    return {
      ...bucket,
      count,
      upCount,
      slowCount,
      downCount: counted?.(startAt, 'down') ?? 0,
      suspectCount: suspected?.(startAt, 'count') ?? 0,
      uptimeRatio: count === 0 ? null : (upCount + slowCount) / count,
      meanMs: measured?.(startAt, 'mean') ?? null,
      p50Ms: measured?.(startAt, 'p50') ?? null,
      p95Ms: measured?.(startAt, 'p95') ?? null,
      p99Ms: measured?.(startAt, 'p99') ?? null,
    };
  });
}

/**
 * Queries points. VictoriaMetrics responds to every statement with a list of databases, which without a test of the columns
 * would pass for a history without checks.
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
  const read = numberReader(table);
  return table.rows.map((row) => ({
    serviceId,
    at: read(row, 'time') ?? 0,
    status: read(row, 'up') === 1 ? 'up' : read(row, 'slow') === 1 ? 'slow' : 'down',
    latencyMs: read(row, 'timed') === 1 ? read(row, 'latency_ms') : null,
    statusCode: read(row, 'status_code') ?? 0,
    suspect: read(row, 'suspect') === 1,
  }));
}

/** Reads the numbers of the group that starts at a time, by column; null: there is no such group or number. */
function groupReader(table: InfluxTable | null): (startAt: number, column: string) => number | null {
  if (table === null) return () => null;
  const read = numberReader(table);
  const groups = new Map(table.rows.map((row) => [read(row, 'time'), row]));
  return (startAt, column) => read(groups.get(startAt), column);
}
