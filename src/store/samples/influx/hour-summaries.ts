/**
 * Exact summaries of the hours of a service: each latency with its count, so that percentiles over hours equal those of
 * the samples. InfluxDB stores them beside the samples, so that months are read as a few thousand points. Hours are
 * summarized while their samples pass on the way to the server.
 */
import { BoundedMap } from '../../../async/bounded-map.ts';
import { HOUR_MS } from '../../../domain/durations.ts';
import type { CountedSamples } from '../bucketing.ts';
import { createReader, createWriter, isSuspect, latencyOf, STRIDE, verdictOf } from '../encoding.ts';
import { type InfluxTable, numberReader, regionReader } from './influx-link.ts';

const HOUR_MEASUREMENT = 'upbeat_hour';
/** An hour is complete this long after its end, because heartbeats may be ten minutes late. */
export const HOUR_GRACE_MS = 900_000;

/** The start of the hour of a time, epoch milliseconds. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/** Hours that start before this are complete at `now`. */
export function hoursOverAt(now: number): number {
  return hourOf(now - HOUR_GRACE_MS);
}

/** Summarizes packed outcomes, without two of the same time. */
export function summarizeHour(outcomes: Iterable<number>): CountedSamples {
  const counts: [number, number, number] = [0, 0, 0];
  const latencies = new Map<number, number>();
  let suspect = 0;
  for (const outcome of outcomes) {
    if (isSuspect(outcome)) {
      suspect++;
      continue;
    }
    counts[verdictOf(outcome) as 0 | 1 | 2]++;
    const latency = latencyOf(outcome);
    if (latency !== -1) latencies.set(latency, (latencies.get(latency) ?? 0) + 1);
  }
  return { counts, suspect, latencies };
}

/** A summary as a line, with the tags of its service and region. */
export function hourLine(tags: string, hour: number, { counts, suspect, latencies }: CountedSamples): string {
  const [up, slow, down] = counts;
  const fields = `up=${up}i,slow=${slow}i,down=${down}i,suspect=${suspect}i,valid=1i`;
  return `${HOUR_MEASUREMENT},${tags} ${fields},latencies="${encodeLatencies(latencies)}" ${hour}`;
}

/** The line that invalidates the summary of an hour, because a sample came late. */
function invalidHourLine(tags: string, hour: number): string {
  return `${HOUR_MEASUREMENT},${tags} valid=0i ${hour}`;
}

/** The statement for the summaries that satisfy a condition, with their regions. */
export function hoursStatement(condition: string): string {
  return `SELECT up, slow, down, suspect, valid, latencies, region FROM ${HOUR_MEASUREMENT} WHERE ${condition}`;
}

/** A summary of a response. */
interface ReadHour {
  readonly hour: number;
  /** Null: its samples have no region. */
  readonly region: string | null;
  readonly summary: CountedSamples;
}

/** The valid summaries of a response. */
export function readHours(table: InfluxTable | null): ReadHour[] {
  const hours: ReadHour[] = [];
  if (table === null) return hours;
  const read = numberReader(table);
  const latenciesAt = table.columns.indexOf('latencies');
  const readRegion = regionReader(table);
  for (const row of table.rows) {
    if (read(row, 'valid') !== 1) continue;
    hours.push({
      hour: read(row, 'time') ?? 0,
      region: readRegion(row),
      summary: {
        counts: [read(row, 'up') ?? 0, read(row, 'slow') ?? 0, read(row, 'down') ?? 0],
        suspect: read(row, 'suspect') ?? 0,
        latencies: decodeLatencies(String(row[latenciesAt])),
      },
    });
  }
  return hours;
}

/** Latencies in ascending order, each as its distance from the one before, and its count. */
function encodeLatencies(latencies: ReadonlyMap<number, number>): string {
  const writer = createWriter(latencies.size * 3);
  let last = 0;
  for (const [latency, count] of [...latencies].sort((a, b) => a[0] - b[0])) {
    writer.varint(latency - last);
    writer.varint(count);
    last = latency;
  }
  return Buffer.from(writer.bytes()).toString('base64');
}

function decodeLatencies(text: string): Map<number, number> {
  const reader = createReader(Buffer.from(text, 'base64'));
  const latencies = new Map<number, number>();
  let last = 0;
  while (!reader.atEnd) {
    last += reader.varint();
    latencies.set(last, reader.varint());
  }
  return latencies;
}

/** Maximum number of remembered hours that were summarized from the server; late samples of older ones go unnoticed. */
const MAX_NOTED = 100_000;

/**
 * Creates a collector of the samples of open hours at `now`, epoch milliseconds. The current hour is left out, because its
 * first samples are missing. `tagsOf`: the tags of a series.
 */
export function createHourCollector(now: number, tagsOf: (series: number) => string) {
  const firstWhole = hourOf(now) + HOUR_MS;
  let overBefore = hoursOverAt(now);
  /** Samples by hour, series and time; of two with the same time the last one counts. */
  const open = new Map<number, Map<number, Map<number, number>>>();
  /** By the tags of their series, and their start. */
  const noted = new BoundedMap<string, true>(MAX_NOTED);
  let lateSamples = 0;

  const isWritten = (tags: string, hour: number): boolean =>
    hour >= firstWhole || noted.has(`${tags} ${hour}`);

  return {
    /** Takes packed samples; returns lines that invalidate the summaries of hours for which they came late. */
    add(packed: Float64Array): string[] {
      const invalid = new Set<string>();
      for (let place = 0; place < packed.length; place += STRIDE) {
        const number = packed[place] as number;
        const at = packed[place + 1] as number;
        const hour = hourOf(at);
        if (hour < overBefore) {
          lateSamples++;
          const tags = tagsOf(number);
          if (isWritten(tags, hour)) invalid.add(invalidHourLine(tags, hour));
        } else if (hour >= firstWhole) {
          const series = open.get(hour) ?? new Map<number, Map<number, number>>();
          open.set(hour, series);
          const samples = series.get(number) ?? new Map<number, number>();
          series.set(number, samples);
          samples.set(at, packed[place + 2] as number);
        }
      }
      return [...invalid];
    },
    /** Lines of the hours that are complete at `moment`, epoch milliseconds. Each is returned once. */
    finish(moment: number): string[] {
      overBefore = Math.max(overBefore, hoursOverAt(moment));
      const lines: string[] = [];
      for (const [hour, series] of open) {
        if (hour >= overBefore) continue;
        for (const [number, samples] of series)
          lines.push(hourLine(tagsOf(number), hour, summarizeHour(samples.values())));
        open.delete(hour);
      }
      return lines;
    },
    /** Notes that an hour was summarized from the samples at the server. */
    noteWritten: (tags: string, hour: number): void => void noted.set(`${tags} ${hour}`, true),
    /** Late samples since the start; a read that began before one of them may lack it. */
    get lateSamples() {
      return lateSamples;
    },
  };
}
