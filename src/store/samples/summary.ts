/**
 * Summaries of the hours of a day of one service, and of the day: what is kept when single samples are out of retention.
 * Their sketches count latencies in classes that grow by 2 %, so that quantiles can be merged and are within 1 % of the
 * exact ones (Masson, Rim and Lee, "DDSketch", 2019). Up to 50 ms the classes are single milliseconds, and exact.
 */
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts';
import { type Bucket, rankOf, weightedPercentileOf } from '../../domain/sample.ts';
import { createReader, createWriter, isSuspect, latencyOf, type Series, verdictOf } from './encoding.ts';

/** Summary of one hour, or of any span. */
export interface Summary {
  /** By verdict: up, slow, down. */
  readonly counts: [number, number, number];
  suspect: number;
  /** Sum of the latencies, milliseconds. */
  latencySum: number;
  latencyCount: number;
  readonly sketch: Sketch;
}

export function emptySummary(): Summary {
  return { counts: [0, 0, 0], suspect: 0, latencySum: 0, latencyCount: 0, sketch: new Map() };
}

export function addSample(summary: Summary, outcome: number): void {
  if (isSuspect(outcome)) {
    summary.suspect++;
    return;
  }
  const verdict = verdictOf(outcome) as 0 | 1 | 2;
  summary.counts[verdict]++;
  const latency = latencyOf(outcome);
  if (latency === -1) return;
  summary.latencySum += latency;
  summary.latencyCount++;
  addToSketch(summary.sketch, classOf(latency));
}

/** Adds `from` to `to`. */
export function addSummary(to: Summary, from: Summary): void {
  for (const verdict of [0, 1, 2] as const) to.counts[verdict] += from.counts[verdict];
  to.suspect += from.suspect;
  to.latencySum += from.latencySum;
  to.latencyCount += from.latencyCount;
  for (const [index, count] of from.sketch) addToSketch(to.sketch, index, count);
}

export type Hours = ReadonlyMap<number, Summary>;

/** Summaries of the hours of a day, from 0 to 23, that have samples. */
export function summarizeHours(series: Series): Hours {
  const hours = new Map<number, Summary>();
  for (const [index, time] of series.times.entries()) {
    const hour = Math.floor((time % DAY_MS) / HOUR_MS);
    const summary = hours.get(hour) ?? emptySummary();
    hours.set(hour, summary);
    addSample(summary, series.outcomes[index] as number);
  }
  return hours;
}

export function summarizeDay(hours: Hours): Summary {
  const day = emptySummary();
  for (const summary of hours.values()) addSummary(day, summary);
  return day;
}

export function encodeHours(hours: Hours): Uint8Array {
  const writer = createWriter(1_024);
  for (const [hour, { counts, suspect, latencySum, latencyCount, sketch }] of hours) {
    for (const value of [hour, ...counts, suspect, latencySum, latencyCount, sketch.size])
      writer.varint(value);
    let last = 0;
    for (const [index, count] of [...sketch].sort((a, b) => a[0] - b[0])) {
      writer.varint(index - last);
      writer.varint(count);
      last = index;
    }
  }
  return writer.bytes();
}

export function encodeDay(day: Summary): Uint8Array {
  return encodeHours(new Map([[0, day]]));
}

/** The inverse of {@link encodeDay}. */
export function decodeDay(bytes: Uint8Array): Summary {
  return decodeHours(bytes).get(0) ?? emptySummary();
}

export type DayFigures = Pick<Bucket, 'count' | 'downCount' | 'slowCount' | 'suspectCount' | 'p95Ms'>;

/**
 * The figures of what {@link encodeDay} wrote, read without building its sketch. Null: the bytes are not those of one day.
 * Throws a RangeError if they end too early.
 */
export function decodeDayFigures(bytes: Uint8Array): DayFigures | null {
  const reader = createReader(bytes);
  if (reader.atEnd || reader.varint() !== 0) return null;
  const [upCount, slowCount, downCount] = [reader.varint(), reader.varint(), reader.varint()];
  const suspectCount = reader.varint();
  reader.varint();
  let rank = rankOf(reader.varint(), 0.95);
  let left = reader.varint();
  let index = 0;
  for (; left > 0 && rank > 0; left--) {
    index += reader.varint();
    rank -= reader.varint();
  }
  const p95Ms = rank > 0 ? null : latencyOfClass(index);
  for (; left > 0; left--) {
    reader.varint();
    reader.varint();
  }
  if (!reader.atEnd) return null;
  return { count: upCount + slowCount + downCount, slowCount, downCount, suspectCount, p95Ms };
}

/** The inverse of {@link encodeHours}. */
export function decodeHours(bytes: Uint8Array): Hours {
  const reader = createReader(bytes);
  const hours = new Map<number, Summary>();
  while (!reader.atEnd) {
    const hour = reader.varint();
    const counts: [number, number, number] = [reader.varint(), reader.varint(), reader.varint()];
    const summary: Summary = {
      counts,
      suspect: reader.varint(),
      latencySum: reader.varint(),
      latencyCount: reader.varint(),
      sketch: new Map(),
    };
    let last = 0;
    for (let left = reader.varint(); left > 0; left--) {
      last += reader.varint();
      summary.sketch.set(last, reader.varint());
    }
    hours.set(hour, summary);
  }
  return hours;
}

/** Counts by class. */
type Sketch = Map<number, number>;

const EXACT_UP_TO = 50;
const GROWTH = 1.02;
const LOG_GROWTH = Math.log(GROWTH);

/** The class of a latency in milliseconds. */
export function classOf(latencyMs: number): number {
  if (latencyMs <= EXACT_UP_TO) return latencyMs;
  return EXACT_UP_TO + Math.ceil(Math.log(latencyMs / EXACT_UP_TO) / LOG_GROWTH);
}

/** The latency that represents a class, whole milliseconds. */
function latencyOfClass(index: number): number {
  if (index <= EXACT_UP_TO) return index;
  const upper = EXACT_UP_TO * GROWTH ** (index - EXACT_UP_TO);
  return Math.round((2 * upper) / (1 + GROWTH));
}

function addToSketch(sketch: Sketch, index: number, count = 1): void {
  sketch.set(index, (sketch.get(index) ?? 0) + count);
}

/** The quantile by nearest rank, milliseconds; null: nothing was counted. */
export function quantileOf(
  sorted: readonly (readonly [index: number, count: number])[],
  total: number,
  ratio: number,
): number | null {
  const index = weightedPercentileOf(sorted, total, ratio);
  return index === null ? null : latencyOfClass(index);
}
