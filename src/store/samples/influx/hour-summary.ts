/**
 * Hours of a service, summed up exactly: every latency with its count, so that percentiles over hours are those of their
 * samples. They stand beside the samples in InfluxDB, so that a window of months is read from some thousand points.
 */
import { HOUR_MS } from '../../../domain/durations.ts';
import { createReader, createWriter, type Series } from '../block.ts';
import { isSuspect, latencyOf, verdictOf } from '../wire.ts';
import type { InfluxTable } from './influx-link.ts';

/** Measurement of the summaries. */
export const HOUR_MEASUREMENT = 'upbeat_hour';
/** An hour is over so long after its end: a heartbeat may be ten minutes late. */
export const HOUR_GRACE_MS = 900_000;

/** The samples of an hour. Suspect ones count in `suspect` alone. */
export interface HourSummary {
  /** By verdict: up, slow, down. */
  readonly counts: readonly [number, number, number];
  readonly suspect: number;
  /** How often each latency in milliseconds was measured. */
  readonly latencies: ReadonlyMap<number, number>;
}

/** The start of the hour of a time, epoch milliseconds. */
export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/** Hours that start before this are over at `now`. */
export function hoursOverAt(now: number): number {
  return hourOf(now - HOUR_GRACE_MS);
}

/** Sums samples up; of two with the same time the series has one. */
export function summariseHour(rests: Series['rests']): HourSummary {
  const counts: [number, number, number] = [0, 0, 0];
  const latencies = new Map<number, number>();
  let suspect = 0;
  for (const rest of rests) {
    if (isSuspect(rest)) {
      suspect++;
      continue;
    }
    counts[verdictOf(rest) as 0 | 1 | 2]++;
    const latency = latencyOf(rest);
    if (latency !== -1) latencies.set(latency, (latencies.get(latency) ?? 0) + 1);
  }
  return { counts, suspect, latencies };
}

/** The summary as a line. */
export function hourLine(
  serviceId: number,
  hour: number,
  { counts, suspect, latencies }: HourSummary,
): string {
  const [up, slow, down] = counts;
  const fields = `up=${up}i,slow=${slow}i,down=${down}i,suspect=${suspect}i,valid=1i`;
  return `${HOUR_MEASUREMENT},service_id=${serviceId} ${fields},latencies="${encodeLatencies(latencies)}" ${hour}`;
}

/** The line that says that an hour's summary no longer holds, since a sample came late. */
export function invalidHourLine(serviceId: number, hour: number): string {
  return `${HOUR_MEASUREMENT},service_id=${serviceId} valid=0i ${hour}`;
}

/** The statement for the summaries of a service that start in `[from, to)`. Whole numbers only. */
export function hoursStatement(serviceId: number, from: number, to: number): string {
  return `SELECT up, slow, down, suspect, valid, latencies FROM ${HOUR_MEASUREMENT} WHERE service_id = '${serviceId}' AND time >= ${from}ms AND time < ${to}ms`;
}

/** Summaries of an answer by the start of their hours; those that no longer hold are left out. */
export function readHours(table: InfluxTable | null): Map<number, HourSummary> {
  const hours = new Map<number, HourSummary>();
  if (table === null) return hours;
  const [time, up, slow, down, suspect, valid, latencies] = [
    'time',
    'up',
    'slow',
    'down',
    'suspect',
    'valid',
    'latencies',
  ].map((column) => table.columns.indexOf(column)) as [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  for (const row of table.rows) {
    if (row[valid] !== 1) continue;
    hours.set(Number(row[time]), {
      counts: [Number(row[up]), Number(row[slow]), Number(row[down])],
      suspect: Number(row[suspect]),
      latencies: decodeLatencies(String(row[latencies])),
    });
  }
  return hours;
}

/** Latencies in their order, each as its distance from the one before, and its count. */
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
