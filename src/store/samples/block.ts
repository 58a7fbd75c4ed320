/**
 * A day of one service as bytes: columns of small numbers, deflated. Times are kept as the change of their distance,
 * which is next to nothing for a service that is checked on time.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  CODE_SHIFT,
  codeOf,
  isSuspect,
  latencyOf,
  NO_LATENCY,
  STATUS_SHIFT,
  SUSPECT_SHIFT,
  verdictOf,
} from './wire.ts';

/** Samples of one service in the order of their times, without two of the same time. */
export interface Series {
  /** Epoch milliseconds. */
  readonly times: number[];
  /** Packed rests, see `wire.ts`. */
  readonly rests: number[];
}

const FORMAT = 1;

/** Writes a day. */
export function encodeBlock({ times, rests }: Series): Uint8Array {
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
  for (const rest of rests) writer.varint(latencyOf(rest) + 1);
  for (const rest of rests) writer.varint(verdictOf(rest) * 2 + (isSuspect(rest) ? 1 : 0));
  for (const rest of rests) writer.varint(codeOf(rest));
  return deflateRawSync(writer.bytes(), { level: 1 });
}

/** Reads a day. Throws for bytes that are none. */
export function decodeBlock(bytes: Uint8Array): Series {
  const raw = inflateRawSync(bytes, { maxOutputLength: MAX_BLOCK_BYTES });
  const reader = createReader(raw);
  if (reader.varint() !== FORMAT) throw new Error('a block of samples has an unknown form');
  const count = reader.varint();
  const times = new Array<number>(count);
  const rests = new Array<number>(count);
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
    rests[index] = latency === 0 ? NO_LATENCY : latency - 1;
  }
  // This is the inner loop of every query of a long window: the packed form is put together without its parts.
  for (let index = 0; index < count; index++)
    rests[index] = (rests[index] as number) + (FLAG_PARTS[reader.varint()] ?? 0);
  for (let index = 0; index < count; index++)
    rests[index] = (rests[index] as number) + reader.varint() * CODE_SHIFT;
  return { times, rests };
}

const MAX_BLOCK_BYTES = 64 * 1_048_576;
/** What each value of the column of flags adds to a packed rest. */
const FLAG_PARTS = [0, 1, 2].flatMap((verdict) => [
  verdict * STATUS_SHIFT,
  verdict * STATUS_SHIFT + SUSPECT_SHIFT,
]);

/** Joins series of one service; where two have the same time, the later series wins. */
export function mergeSeries(older: Series, newer: Series): Series {
  const byTime = new Map<number, number>();
  for (const { times, rests } of [older, newer]) {
    for (let index = 0; index < times.length; index++)
      byTime.set(times[index] as number, rests[index] as number);
  }
  const times = [...byTime.keys()].sort((a, b) => a - b);
  return { times, rests: times.map((time) => byTime.get(time) as number) };
}

/** Writes whole numbers in as few bytes as they need (LEB128). */
export function createWriter(capacity: number) {
  let buffer = new Uint8Array(Math.max(16, capacity));
  let length = 0;
  const varint = (value: number) => {
    if (length + 10 > buffer.length) {
      const bigger = new Uint8Array(buffer.length * 2);
      bigger.set(buffer);
      buffer = bigger;
    }
    let rest = value;
    while (rest >= 128) {
      buffer[length++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    buffer[length++] = rest;
  };
  return {
    varint,
    /** Small numbers of either sign (zigzag). */
    signed: (value: number) => varint(value < 0 ? -value * 2 - 1 : value * 2),
    bytes: () => buffer.subarray(0, length),
  };
}

/** Reads what {@link createWriter} wrote. Throws a RangeError past the end. */
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
