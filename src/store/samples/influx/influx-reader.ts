/**
 * Reads samples by InfluxQL. Statements contain whole numbers and names of regions, which have no character to escape, and
 * every statement over samples is bounded in time or number.
 */
import { getOrInsert } from '../../../async/bounded-map.ts';
import { DAY_MS, HOUR_MS } from '../../../domain/durations.ts';
import { isRegionName } from '../../../domain/node.ts';
import type { Bucket, Sample } from '../../../domain/sample.ts';
import type { SampleQuery } from '../../ports/samples.ts';
import { type CountedSamples, createBucketing } from '../bucketing.ts';
import { packOutcome, type Series } from '../encoding.ts';
import { hourOf, hoursStatement, readHours, summarizeHour } from './hour-summaries.ts';
import { type InfluxQueries, type InfluxTable, numberReader, regionReader } from './influx-link.ts';
import { InfluxError, MEASUREMENT } from './influx-settings.ts';

/** The summaries of hours that a reader may write. */
export interface HourSummaryWriter {
  /** Hours that start before this are complete at the server, epoch milliseconds. */
  readonly completeBefore: number;
  /** Stores the summary of an hour that has none. `region` null: its samples have no region. */
  store(serviceId: number, region: string | null, hour: number, summary: CountedSamples): void;
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

/** A series of a service by its region. Null: its samples have none; undefined: the samples of all regions. */
type SeriesRegion = string | null | undefined;

/** A part of the window in a series. */
interface Gap {
  readonly region: SeriesRegion;
  readonly from: number;
  readonly to: number;
}

/** A gap to read, and about how many samples it has. */
interface Span extends Gap {
  readonly samples: number;
}

/**
 * Every bucket of the window in order, empty ones included: from summaries of hours that lie in one bucket, and from
 * samples elsewhere. `hours` null: no summaries are written. Throws a RangeError for a window that cannot be answered.
 */
export async function queryBuckets(
  link: InfluxQueries,
  query: SampleQuery,
  hours: HourSummaryWriter | null = null,
): Promise<Bucket[]> {
  const bucketing = createBucketing(query);
  const { serviceId, from, to, stepMs } = query;
  const isByHours = to - from > SHORT_MS && stepMs >= HOUR_MS;
  const [regions, summaries] = await Promise.all([
    findRegions(link, query, isByHours),
    isByHours ? readSummaries(link, query) : [],
  ]);
  const known = new Map<string | null, Set<number>>();
  const used = new Map<string | null, Set<number>>();
  for (const { region, hour, summary } of summaries) {
    getOrInsert(known, region, () => new Set()).add(hour);
    if (!bucketing.holds(hour, HOUR_MS)) continue;
    bucketing.addCounted(hour, summary);
    getOrInsert(used, region, () => new Set()).add(hour);
  }
  const gaps = regions.flatMap((region) => gapsOf(region, from, to, used.get(tagOf(region)) ?? NO_HOURS));
  const loose = await sizesOf(link, serviceId, gaps);
  const count = loose.reduce((sum, { samples }) => sum + samples, 0);
  if (to - from > EXACT_MS && count > MAX_LOOSE_SAMPLES)
    return await querySummed(link, query, createBucketing(query).buckets());
  for (const spans of requestsOf(loose)) {
    for (const { span, series } of await readSpans(link, serviceId, spans)) {
      bucketing.addSeries(series);
      if (hours !== null && isByHours)
        storeHours(hours, serviceId, { span, series }, known.get(tagOf(span.region)) ?? NO_HOURS);
    }
  }
  return bucketing.buckets();
}

const NO_HOURS: ReadonlySet<number> = new Set();

/** The series of a query. Hours are summarized by region; other windows need not tell the regions apart. */
async function findRegions(
  link: InfluxQueries,
  { serviceId, region: filter }: SampleQuery,
  isByHours: boolean,
): Promise<readonly SeriesRegion[]> {
  if (filter !== undefined) return filter.takesUnnamed ? [null, filter.region] : [filter.region];
  const names = isByHours ? await queryRegions(link, serviceId) : [];
  return names.length === 0 ? [undefined] : [null, ...names];
}

/** The value of the tag `region`; null: its points have none. */
function tagOf(region: SeriesRegion): string | null {
  return region ?? null;
}

/** The summaries of the whole hours of a window. */
async function readSummaries(link: InfluxQueries, query: SampleQuery) {
  const end = hourOf(query.to);
  const summaries: ReturnType<typeof readHours> = [];
  for (let from = hourOf(query.from + HOUR_MS - 1); from < end; from += HOURS_AT_ONCE * HOUR_MS) {
    const part = { ...query, from, to: Math.min(end, from + HOURS_AT_ONCE * HOUR_MS) };
    const [table] = await select(link, [hoursStatement(where(part))]);
    summaries.push(...readHours(table ?? null));
  }
  return summaries;
}

/** Parts of `[from, to)` outside of the given hours, in order; none spans the start of the first whole hour. */
function gapsOf(region: SeriesRegion, from: number, to: number, hours: ReadonlySet<number>): Gap[] {
  if (hours.size === 0) return [{ region, from, to }];
  const gaps: Gap[] = [];
  const firstWhole = Math.min(to, hourOf(from + HOUR_MS - 1));
  if (firstWhole > from) gaps.push({ region, from, to: firstWhole });
  for (let at = firstWhole; at < to; ) {
    const start = at;
    while (at < to && !hours.has(at)) at += HOUR_MS;
    if (at > start) gaps.push({ region, from: start, to: Math.min(to, at) });
    while (at < to && hours.has(at)) at += HOUR_MS;
  }
  return gaps;
}

/** Divides long gaps into days of UTC and omits those without samples. */
async function sizesOf(link: InfluxQueries, serviceId: number, gaps: readonly Gap[]): Promise<Span[]> {
  const sized: Span[] = [];
  const long: Gap[] = [];
  for (const gap of gaps) {
    const lengthMs = gap.to - gap.from;
    if (lengthMs > DAY_MS) long.push(gap);
    else sized.push({ ...gap, samples: Math.ceil((lengthMs / HOUR_MS) * SAMPLES_AN_HOUR) });
  }
  for (let first = 0; first < long.length; first += MAX_STATEMENTS) {
    const some = long.slice(first, first + MAX_STATEMENTS);
    const tables = await select(
      link,
      some.map(
        (gap) =>
          `SELECT COUNT(up) AS count FROM ${MEASUREMENT} WHERE ${whereGap(serviceId, gap)} GROUP BY time(1d) FILL(none)`,
      ),
    );
    for (const [index, { region, from, to }] of some.entries()) {
      const table = tables[index] ?? null;
      if (table === null) continue;
      const read = numberReader(table);
      for (const row of table.rows) {
        const [start, samples] = [read(row, 'time') ?? 0, read(row, 'count') ?? 0];
        if (samples > 0)
          sized.push({ region, from: Math.max(from, start), to: Math.min(to, start + DAY_MS), samples });
      }
    }
  }
  return sized;
}

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
  link: InfluxQueries,
  serviceId: number,
  spans: readonly Span[],
): Promise<{ readonly span: Span; readonly series: Series }[]> {
  const tables = await select(
    link,
    spans.map((span) => `SELECT ${FIELDS} FROM ${MEASUREMENT} WHERE ${whereGap(serviceId, span)}`),
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
  { span, series: { times, outcomes } }: { readonly span: Span; readonly series: Series },
  known: ReadonlySet<number>,
): void {
  const byHour = new Map<number, number[]>();
  for (const [place, at] of times.entries()) {
    const hour = hourOf(at);
    if (hour < span.from || hour + HOUR_MS > span.to || hour >= completeBefore || known.has(hour)) continue;
    getOrInsert(byHour, hour, () => []).push(outcomes[place] as number);
  }
  for (const [hour, list] of byHour) store(serviceId, tagOf(span.region), hour, summarizeHour(list));
}

/** Newest samples, newest first. */
export async function queryNewest(link: InfluxQueries, serviceId: number, limit: number): Promise<Sample[]> {
  const [table] = await select(link, [
    `SELECT ${FIELDS}, region FROM ${MEASUREMENT} WHERE service_id = '${whole(serviceId)}' ORDER BY time DESC LIMIT ${whole(limit)}`,
  ]);
  return table === undefined || table === null ? [] : readSamples(serviceId, table);
}

/** The regions of which a service has samples, by name. */
export async function queryRegions(link: InfluxQueries, serviceId: number): Promise<string[]> {
  const [table = null] = await link.query([
    `SHOW TAG VALUES FROM ${MEASUREMENT} WITH KEY = "region" WHERE service_id = '${whole(serviceId)}'`,
  ]);
  if (table === null) return [];
  const place = table.columns.indexOf('value');
  if (place === -1) throw withoutInfluxql();
  // Other programs may write to the same bucket.
  return table.rows.flatMap((row) => readRegionName(row[place])).sort();
}

function readRegionName(value: unknown): string[] {
  return typeof value === 'string' && isRegionName(value) ? [value] : [];
}

async function querySummed(
  link: InfluxQueries,
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
async function select(link: InfluxQueries, statements: readonly string[]): Promise<(InfluxTable | null)[]> {
  const tables = await link.query(statements);
  if (tables.some((table) => table !== null && !table.columns.includes('time'))) throw withoutInfluxql();
  return tables;
}

function withoutInfluxql(): InfluxError {
  return new InfluxError('no_influxql', 'the server takes points, and does not answer InfluxQL');
}

function where({ serviceId, from, to, region }: Omit<SampleQuery, 'stepMs'>): string {
  const window = `service_id = '${whole(serviceId)}' AND time >= ${whole(from)}ms AND time < ${whole(to)}ms`;
  if (region === undefined) return window;
  const named = `region = ${quoteRegion(region.region)}`;
  // Points without the tag have it empty.
  return `${window} AND ${region.takesUnnamed ? `(${named} OR region = '')` : named}`;
}

function whereGap(serviceId: number, { region, from, to }: Gap): string {
  const window = where({ serviceId, from, to });
  return region === undefined ? window : `${window} AND region = ${quoteRegion(region ?? '')}`;
}

/** The name of a region, or nothing, as a string of InfluxQL. */
function quoteRegion(name: string): string {
  if (name !== '' && !isRegionName(name)) throw new RangeError('not the name of a region');
  return `'${name}'`;
}

function whole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a whole number`);
  return value;
}

function readSamples(serviceId: number, table: InfluxTable): Sample[] {
  const read = numberReader(table);
  const readRegion = regionReader(table);
  return table.rows.map((row) => ({
    serviceId,
    ...placeOf(readRegion(row)),
    at: read(row, 'time') ?? 0,
    status: read(row, 'up') === 1 ? 'up' : read(row, 'slow') === 1 ? 'slow' : 'down',
    latencyMs: read(row, 'timed') === 1 ? read(row, 'latency_ms') : null,
    statusCode: read(row, 'status_code') ?? 0,
    suspect: read(row, 'suspect') === 1,
  }));
}

function placeOf(region: string | null) {
  return region === null ? {} : { region };
}

/** Reads the numbers of the group that starts at a time, by column; null: there is no such group or number. */
function groupReader(table: InfluxTable | null): (startAt: number, column: string) => number | null {
  if (table === null) return () => null;
  const read = numberReader(table);
  const groups = new Map(table.rows.map((row) => [read(row, 'time'), row]));
  return (startAt, column) => read(groups.get(startAt), column);
}
