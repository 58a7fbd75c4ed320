/**
 * Samples as numbers: three doubles each in the journal and between threads, and deflated columns of small numbers in the
 * block of a service and day. Times in a block are stored as the change of their distance, which is close to zero for a
 * service that is checked on time.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { MAX_SAMPLE_LATENCY_MS, type Sample } from '../../domain/sample.ts';
import type { Verdict } from '../../domain/status.ts';

/** Maximum number of regions that a store tells apart: the key of a day is then still an exact number of JavaScript. */
export const MAX_SAMPLE_REGIONS = 255;
const SERVICES = 2 ** 29;

/** The series of a service in a region, by the number of the region; 0: the samples without a region. */
export function seriesOf(serviceId: number, regionNumber: number): number {
  return serviceId + regionNumber * SERVICES;
}

export function serviceOf(series: number): number {
  return series % SERVICES;
}

/** The number of the region of a series; 0: none. */
export function regionNumberOf(series: number): number {
  return Math.floor(series / SERVICES);
}

/** Numbers regions, from 1 in the order of `known` and then of their first use. */
export function createRegionNumbers(known: readonly string[]) {
  const numbers = new Map(known.map((region, index) => [region, index + 1]));
  let unsent: string[] = [];
  return {
    /** The number of a region; 0: there are already {@link MAX_SAMPLE_REGIONS}, so that its samples have no region. */
    numberOf(region: string): number {
      const found = numbers.get(region);
      if (found !== undefined) return found;
      if (numbers.size >= MAX_SAMPLE_REGIONS) return 0;
      unsent.push(region);
      numbers.set(region, numbers.size + 1);
      return numbers.size;
    },
    /** The regions that were numbered since the last call, in the order of their numbers. */
    takeNew(): readonly string[] {
      const names = unsent;
      if (names.length > 0) unsent = [];
      return names;
    },
  };
}

/** Doubles for each sample: number of its series, time, and the outcome packed into one whole number. */
export const STRIDE = 3;

/** Stands for a missing latency in a packed outcome. */
const NO_LATENCY = 65_535;
const VERDICTS: readonly Verdict[] = ['up', 'slow', 'down'];
/** Places of the parts in a packed outcome. */
export const CODE_SHIFT = 65_536;
const STATUS_SHIFT = CODE_SHIFT * 1_024;
const SUSPECT_SHIFT = STATUS_SHIFT * 4;

/** A sample without its service and time. */
type SampleOutcome = Pick<Sample, 'status' | 'latencyMs' | 'statusCode' | 'suspect'>;

/** Packs latency (16 bits), status code (10), status (2) and suspicion (1) into a whole number. */
export function packOutcome({ status, latencyMs, statusCode, suspect }: SampleOutcome): number {
  const latency =
    latencyMs === null ? NO_LATENCY : Math.max(0, Math.min(MAX_SAMPLE_LATENCY_MS, Math.round(latencyMs)));
  const code = Math.max(0, Math.min(1_023, statusCode));
  return (
    latency + code * CODE_SHIFT + VERDICTS.indexOf(status) * STATUS_SHIFT + (suspect ? SUSPECT_SHIFT : 0)
  );
}

/** The latency of a packed outcome, milliseconds; -1: none. */
export function latencyOf(outcome: number): number {
  const latency = outcome % CODE_SHIFT;
  return latency === NO_LATENCY ? -1 : latency;
}

/** HTTP status code of a packed outcome. */
export function codeOf(outcome: number): number {
  return Math.floor(outcome / CODE_SHIFT) % 1_024;
}

/** Place of the verdict in `up, slow, down`. */
export function verdictOf(outcome: number): number {
  return Math.floor(outcome / STATUS_SHIFT) % 4;
}

/** Returns true if the sample is suspect. */
export function isSuspect(outcome: number): boolean {
  return outcome >= SUSPECT_SHIFT;
}

/** The inverse of {@link packOutcome}. */
export function unpackOutcome(outcome: number): SampleOutcome {
  const latency = latencyOf(outcome);
  return {
    status: VERDICTS[verdictOf(outcome)] ?? 'down',
    latencyMs: latency === -1 ? null : latency,
    statusCode: codeOf(outcome),
    suspect: isSuspect(outcome),
  };
}

/** Packs samples for the thread. `numberOf`: the number of a region in the store; default: samples have no region. */
export function packSamples(
  samples: readonly Sample[],
  numberOf: (region: string) => number = () => 0,
): Float64Array<ArrayBuffer> {
  const packed = new Float64Array(samples.length * STRIDE);
  let at = 0;
  for (const sample of samples) {
    const { serviceId, region } = sample;
    packed[at++] = region === undefined ? serviceId : seriesOf(serviceId, numberOf(region));
    packed[at++] = sample.at;
    packed[at++] = packOutcome(sample);
  }
  return packed;
}

/** Samples of one series in the order of their times, without two of the same time. */
export interface Series {
  /** Epoch milliseconds. */
  readonly times: number[];
  /** From {@link packOutcome}. */
  readonly outcomes: number[];
}

/** No samples. */
export const EMPTY_SERIES: Series = { times: [], outcomes: [] };

const FORMAT = 1;

export function encodeBlock({ times, outcomes }: Series): Uint8Array {
  const writer = createWriter(times.length * 8 + 16);
  writer.varint(FORMAT);
  writer.varint(times.length);
  writer.varint(times[0] ?? 0);
  let last = times[0] ?? 0;
  let lastStep = 0;
  for (let index = 1; index < times.length; index++) {
    const time = times[index] as number;
    const step = time - last;
    writer.signed(step - lastStep);
    last = time;
    lastStep = step;
  }
  for (const outcome of outcomes) writer.varint(latencyOf(outcome) + 1);
  for (const outcome of outcomes) writer.varint(verdictOf(outcome) * 2 + (isSuspect(outcome) ? 1 : 0));
  for (const outcome of outcomes) writer.varint(codeOf(outcome));
  return compress(writer.bytes());
}

/** Length up to which a day is kept as it is, bytes: that of a few samples, which compression makes shorter by less than half. */
const MAX_STORED_BYTES = 48;
/** Length up to which the window and the tables of a quarter of the usual size compress as well, bytes. */
const MAX_SMALL_BYTES = 4_096;
const SMALL = { level: 1, windowBits: 12, memLevel: 4, chunkSize: 1_024 } as const;
/** The header of a last block that is stored (RFC 1951, 3.2.4): a byte, the length, and its complement. */
const STORED_HEADER_BYTES = 5;

/** Compresses as a raw DEFLATE stream. To set up the compressor costs more than to compress a short day. */
function compress(raw: Uint8Array): Uint8Array {
  if (raw.length > MAX_SMALL_BYTES) return deflateRawSync(raw, { level: 1 });
  if (raw.length > MAX_STORED_BYTES) return deflateRawSync(raw, SMALL);
  const stored = new Uint8Array(STORED_HEADER_BYTES + raw.length);
  stored.set([1, raw.length, 0, 255 - raw.length, 255]);
  stored.set(raw, STORED_HEADER_BYTES);
  return stored;
}

/** The inverse of {@link compress}. Throws if `bytes` is no DEFLATE stream. */
function decompress(bytes: Uint8Array): Uint8Array {
  const [first, length = 0] = bytes;
  const isStored = first === 1 && bytes.length === STORED_HEADER_BYTES + length;
  if (isStored && length <= MAX_STORED_BYTES) return bytes.subarray(STORED_HEADER_BYTES);
  return inflateRawSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES });
}

/** Decodes a day. Throws if `bytes` is no block. */
export function decodeBlock(bytes: Uint8Array): Series {
  const reader = createReader(decompress(bytes));
  if (reader.varint() !== FORMAT) throw new Error('a block of samples has an unknown form');
  const count = reader.varint();
  const times = new Array<number>(count);
  const outcomes = new Array<number>(count);
  let time = reader.varint();
  let step = 0;
  for (let index = 0; index < count; index++) {
    if (index > 0) {
      step += reader.signed();
      time += step;
    }
    times[index] = time;
  }
  for (let index = 0; index < count; index++) {
    const latency = reader.varint();
    outcomes[index] = latency === 0 ? NO_LATENCY : latency - 1;
  }
  // The inner loop of every query of a long window adds the parts of the packed outcome without unpacking them.
  for (let index = 0; index < count; index++)
    outcomes[index] = (outcomes[index] as number) + (FLAG_PARTS[reader.varint()] ?? 0);
  for (let index = 0; index < count; index++)
    outcomes[index] = (outcomes[index] as number) + reader.varint() * CODE_SHIFT;
  return { times, outcomes };
}

const MAX_BLOCK_BYTES = 64 * 1_048_576;
/** The bits that each value of the column of flags adds to a packed outcome. */
const FLAG_PARTS = [0, 1, 2].flatMap((verdict) => [
  verdict * STATUS_SHIFT,
  verdict * STATUS_SHIFT + SUSPECT_SHIFT,
]);

/** Merges two parts of one series; of samples with the same time, that of `newer` is kept. */
export function mergeSeries(older: Series, newer: Series): Series {
  const byTime = new Map<number, number>();
  for (const { times, outcomes } of [older, newer]) {
    for (let index = 0; index < times.length; index++)
      byTime.set(times[index] as number, outcomes[index] as number);
  }
  const times = [...byTime.keys()].sort((a, b) => a - b);
  return { times, outcomes: times.map((time) => byTime.get(time) as number) };
}

/** Creates a writer of whole numbers of variable length (LEB128). */
export function createWriter(capacity: number) {
  let buffer = new Uint8Array(Math.max(16, capacity));
  let length = 0;
  const varint = (value: number) => {
    if (length + 10 > buffer.length) {
      const bigger = new Uint8Array(buffer.length * 2);
      bigger.set(buffer);
      buffer = bigger;
    }
    let left = value;
    while (left >= 128) {
      buffer[length++] = (left % 128) + 128;
      left = Math.floor(left / 128);
    }
    buffer[length++] = left;
  };
  return {
    varint,
    signed: (value: number) => varint(value < 0 ? -value * 2 - 1 : value * 2),
    bytes: () => buffer.subarray(0, length),
  };
}

/** Creates a reader of what {@link createWriter} wrote. It throws a RangeError past the end. */
export function createReader(bytes: Uint8Array) {
  let at = 0;
  const varint = () => {
    const first = bytes[at] as number;
    if (first < 128) {
      at++;
      return first;
    }
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined) throw new RangeError('the bytes end too early');
      if (byte < 128) return value + byte * scale;
      value += (byte - 128) * scale;
      scale *= 128;
    }
  };
  return {
    varint,
    signed() {
      const value = varint();
      return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
    },
    get atEnd() {
      return at >= bytes.length;
    },
  };
}
