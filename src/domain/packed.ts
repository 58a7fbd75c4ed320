/**
 * The codec that packs results, targets and states into rows of numbers, so that threads exchange no objects and a million of them cost little.
 * NaN stands for null; flags are the bits of one number.
 */
import { type ProbeMemory, shareMemory, type Timing } from './result.ts';
import { PROBED_KINDS } from './service.ts';
import type { LatestCheck } from './status/current.ts';

/** The sources of checks, which flags name by their places. */
export const SOURCES: readonly LatestCheck['source'][] = [...PROBED_KINDS, 'heartbeat', 'silence'];

export function unpackNullable(value: number | undefined): number | null {
  return value === undefined || Number.isNaN(value) ? null : value;
}

/** The flags of a memory, each a bit. */
interface MemoryBits {
  readonly needsGet: number;
  readonly headSeen: number;
  readonly healthSeen: number;
}

/** The flags that most rows have for a memory. */
export const MEMORY_BITS: MemoryBits = { needsGet: 2, headSeen: 4, healthSeen: 8 };

export function memoryFlags({ needsGet, headSeen, healthSeen }: ProbeMemory, bits: MemoryBits): number {
  return (needsGet ? bits.needsGet : 0) | (headSeen ? bits.headSeen : 0) | (healthSeen ? bits.healthSeen : 0);
}

export function unpackMemory(flags: number, askHealthAt: number | undefined, bits: MemoryBits): ProbeMemory {
  return shareMemory({
    needsGet: (flags & bits.needsGet) !== 0,
    headSeen: (flags & bits.headSeen) !== 0,
    healthSeen: (flags & bits.healthSeen) !== 0,
    askHealthAt: unpackNullable(askHealthAt),
  });
}

/** Writes the five phases of a timing from a place on. */
export function packTiming(numbers: Float64Array, at: number, timing: Timing): void {
  numbers[at] = timing.dnsMs ?? Number.NaN;
  numbers[at + 1] = timing.connectMs ?? Number.NaN;
  numbers[at + 2] = timing.tlsMs ?? Number.NaN;
  numbers[at + 3] = timing.firstByteMs ?? Number.NaN;
  numbers[at + 4] = timing.totalMs ?? Number.NaN;
}

export function unpackTiming(numbers: Float64Array, at: number): Timing {
  return {
    dnsMs: unpackNullable(numbers[at]),
    connectMs: unpackNullable(numbers[at + 1]),
    tlsMs: unpackNullable(numbers[at + 2]),
    firstByteMs: unpackNullable(numbers[at + 3]),
    totalMs: unpackNullable(numbers[at + 4]),
  };
}
