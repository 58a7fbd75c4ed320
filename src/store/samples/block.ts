/**
 * A day of one service as bytes: columns of small numbers, deflated. Times are kept as the change of their distance,
 * which is next to nothing for a service that is checked on time.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { codeOf, isSuspect, latencyOf, packRest, verdictOf } from './wire.ts';

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
  const reader = createReader(inflateRawSync(bytes, { maxOutputLength: 64 * 1_048_576 }));
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
  for (let index = 0; index < count; index++) rests[index] = reader.varint();
  const flags = new Uint8Array(count);
  for (let index = 0; index < count; index++) flags[index] = reader.varint();
  for (let index = 0; index < count; index++) {
    const latency = (rests[index] as number) - 1;
    const flag = flags[index] as number;
    rests[index] = packRest({
      latencyMs: latency === -1 ? null : latency,
      status: STATUSES[flag >> 1] ?? 'down',
      suspect: (flag & 1) === 1,
      statusCode: reader.varint(),
    });
  }
  return { times, rests };
}

const STATUSES = ['up', 'slow', 'down'] as const;

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
