/** What checks found beside their verdicts, as numbers: seven doubles a sample on the way to the thread. */
import { DAY_MS } from '../../../domain/durations.ts';
import { FAILURE_CLASSES } from '../../../domain/failure.ts';
import type { Sample } from '../../../domain/sample.ts';
import { floatText } from './line-text.ts';

const STRIDE = 7;
const PHASE_FIELDS = ['dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms', 'total_ms'] as const;
/** Places behind the phases. */
const CERTIFICATE_AT = PHASE_FIELDS.length;
const FAILURE_AT = CERTIFICATE_AT + 1;

/** Packs details in the order of the samples; null: no sample has any. NaN stands for what did not happen. */
export function packDetails(samples: readonly Sample[]): Float64Array<ArrayBuffer> | null {
  if (!samples.some(({ detail }) => detail !== undefined)) return null;
  const packed = new Float64Array(samples.length * STRIDE).fill(Number.NaN);
  for (const [index, { at, detail }] of samples.entries()) {
    if (detail === undefined) continue;
    const { timing, certificateExpiresAt, failure } = detail;
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = timing;
    const from = index * STRIDE;
    for (const [place, ms] of [dnsMs, connectMs, tlsMs, firstByteMs, totalMs].entries())
      if (ms !== null) packed[from + place] = ms;
    if (certificateExpiresAt !== null)
      packed[from + CERTIFICATE_AT] = Math.floor((certificateExpiresAt - at) / DAY_MS);
    if (failure !== null) packed[from + FAILURE_AT] = FAILURE_CLASSES.indexOf(failure);
  }
  return packed;
}

/** The fields of the sample at `index`, each with a comma before it; empty: nothing is known. */
export function detailFields(packed: Float64Array, index: number): string {
  const from = index * STRIDE;
  let fields = '';
  for (const [place, name] of PHASE_FIELDS.entries()) {
    const ms = packed[from + place] as number;
    if (!Number.isNaN(ms)) fields += `,${name}=${floatText(ms)}`;
  }
  const days = packed[from + CERTIFICATE_AT] as number;
  if (!Number.isNaN(days)) fields += `,certificate_days=${days}i`;
  const failure = FAILURE_CLASSES[packed[from + FAILURE_AT] as number];
  return failure === undefined ? fields : `${fields},failure="${failure}"`;
}
