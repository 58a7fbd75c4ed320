/** The hours of a day of one service, and the day, summarised: what is left when single samples fall out of retention. */
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts';
import { createReader, createWriter, type Series } from './block.ts';
import { addToSketch, classOf, type Sketch } from './sketch.ts';
import { isSuspect, latencyOf, verdictOf } from './wire.ts';

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

/** An empty summary. */
export function emptySummary(): Summary {
  return { counts: [0, 0, 0], suspect: 0, latencySum: 0, latencyCount: 0, sketch: new Map() };
}

/** Counts a sample in. */
export function addSample(summary: Summary, rest: number): void {
  if (isSuspect(rest)) {
    summary.suspect++;
    return;
  }
  const verdict = verdictOf(rest) as 0 | 1 | 2;
  summary.counts[verdict]++;
  const latency = latencyOf(rest);
  if (latency === -1) return;
  summary.latencySum += latency;
  summary.latencyCount++;
  addToSketch(summary.sketch, classOf(latency));
}

/** Adds one summary to another. */
export function addSummary(to: Summary, from: Summary): void {
  for (const verdict of [0, 1, 2] as const) to.counts[verdict] += from.counts[verdict];
  to.suspect += from.suspect;
  to.latencySum += from.latencySum;
  to.latencyCount += from.latencyCount;
  for (const [index, count] of from.sketch) addToSketch(to.sketch, index, count);
}

/** Summaries by the number of their hour. */
export type Hours = ReadonlyMap<number, Summary>;

/** The hours of a day, from 0 to 23: only those in which something was measured. */
export function summariseHours(series: Series): Hours {
  const hours = new Map<number, Summary>();
  for (let index = 0; index < series.times.length; index++) {
    const hour = Math.floor(((series.times[index] as number) % DAY_MS) / HOUR_MS);
    const summary = hours.get(hour) ?? emptySummary();
    hours.set(hour, summary);
    addSample(summary, series.rests[index] as number);
  }
  return hours;
}

/** A day as a whole, from its hours. */
export function summariseDay(hours: Hours): Summary {
  const day = emptySummary();
  for (const summary of hours.values()) addSummary(day, summary);
  return day;
}

/** Summaries as bytes. */
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

/** A day as a whole, as bytes. */
export function encodeDay(day: Summary): Uint8Array {
  return encodeHours(new Map([[0, day]]));
}

/** The opposite of {@link encodeDay}. */
export function decodeDay(bytes: Uint8Array): Summary {
  return decodeHours(bytes).get(0) ?? emptySummary();
}

/** The opposite of {@link encodeHours}. */
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
