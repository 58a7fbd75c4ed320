/** Samples as numbers: three doubles each, in the journal and on the way between threads. */
import { MAX_SAMPLE_LATENCY_MS, type Sample } from '../../domain/sample.ts';
import type { Verdict } from '../../domain/status.ts';

/** Doubles for each sample: service, time, and the rest packed into one whole number. */
export const STRIDE = 3;

/** Stands for a missing latency in a packed rest. */
export const NO_LATENCY = 65_535;
const VERDICTS: readonly Verdict[] = ['up', 'slow', 'down'];
/** Places of the parts in a packed rest. */
export const CODE_SHIFT = 65_536;
export const STATUS_SHIFT = CODE_SHIFT * 1_024;
export const SUSPECT_SHIFT = STATUS_SHIFT * 4;

/** What a sample says beside its service and time. */
export type SampleRest = Pick<Sample, 'status' | 'latencyMs' | 'statusCode' | 'suspect'>;

/** Packs latency (16 bits), status code (10), status (2) and suspicion (1) into a whole number. */
export function packRest({ status, latencyMs, statusCode, suspect }: SampleRest): number {
  const latency =
    latencyMs === null ? NO_LATENCY : Math.max(0, Math.min(MAX_SAMPLE_LATENCY_MS, Math.round(latencyMs)));
  const code = Math.max(0, Math.min(1_023, statusCode));
  return (
    latency + code * CODE_SHIFT + VERDICTS.indexOf(status) * STATUS_SHIFT + (suspect ? SUSPECT_SHIFT : 0)
  );
}

/** The latency of a packed rest, milliseconds; -1: none. */
export function latencyOf(rest: number): number {
  const latency = rest % CODE_SHIFT;
  return latency === NO_LATENCY ? -1 : latency;
}

/** HTTP status code of a packed rest. */
export function codeOf(rest: number): number {
  return Math.floor(rest / CODE_SHIFT) % 1_024;
}

/** Place of the verdict in `up, slow, down`. */
export function verdictOf(rest: number): number {
  return Math.floor(rest / STATUS_SHIFT) % 4;
}

/** Whether the sample is suspect. */
export function isSuspect(rest: number): boolean {
  return rest >= SUSPECT_SHIFT;
}

/** The opposite of {@link packRest}. */
export function unpackRest(rest: number): SampleRest {
  const latency = latencyOf(rest);
  return {
    status: VERDICTS[verdictOf(rest)] ?? 'down',
    latencyMs: latency === -1 ? null : latency,
    statusCode: codeOf(rest),
    suspect: isSuspect(rest),
  };
}

/** Packs samples for the way to the thread. */
export function packSamples(samples: readonly Sample[]): Float64Array<ArrayBuffer> {
  const packed = new Float64Array(samples.length * STRIDE);
  let at = 0;
  for (const sample of samples) {
    packed[at++] = sample.serviceId;
    packed[at++] = sample.at;
    packed[at++] = packRest(sample);
  }
  return packed;
}
