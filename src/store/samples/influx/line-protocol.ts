/** Samples as lines of InfluxDB's line protocol; docs/influxdb.md describes tags and fields. */
import { DAY_MS } from '../../../domain/durations.ts';
import { FAILURE_CLASSES } from '../../../domain/failure.ts';
import type { Sample } from '../../../domain/sample.ts';
import { CODE_SHIFT, codeOf, isSuspect, latencyOf, STRIDE, verdictOf } from '../encoding.ts';
import { MEASUREMENT, type ServiceLabels } from './influx-settings.ts';

/** Maximum length of a text field, UTF-16 units; InfluxDB accepts 64 KiB. */
const MAX_TEXT_LENGTH = 2_000;

/** Creates a formatter of samples. Those of a service without a name are tagged with its number only. */
export function createLineWriter() {
  const series = new Map<number, string>();
  return {
    /** Sets the names of services, before their first sample and when they change. */
    name(labels: readonly ServiceLabels[]): void {
      for (const one of labels) series.set(one.serviceId, `${MEASUREMENT},${serviceTags(one)}`);
    },
    /** Lines of packed samples and of what {@link packDetails} packed of them, in order. Times are milliseconds. */
    write(packed: Float64Array, details: Float64Array | null): string[] {
      const lines: string[] = [];
      for (let at = 0; at < packed.length; at += STRIDE) {
        const serviceId = packed[at] as number;
        const prefix = series.get(serviceId) ?? `${MEASUREMENT},service_id=${serviceId}`;
        const detail = details === null ? '' : detailFields(details, at / STRIDE);
        lines.push(`${prefix} ${fieldsOf(packed[at + 2] as number)}${detail} ${packed[at + 1]}`);
      }
      return lines;
    },
  };
}

/** Fields of verdict, suspicion and status code: few values, which recur in every sample. */
const fieldCache = new Map<number, string>();

// A later point with the same time keeps the earlier value of a field that it lacks: `timed` tells whether `latency_ms`
// counts.
function fieldsOf(outcome: number): string {
  const key = Math.floor(outcome / CODE_SHIFT);
  let fields = fieldCache.get(key);
  if (fields === undefined) {
    fields = outcomeFields(outcome);
    fieldCache.set(key, fields);
  }
  const latency = latencyOf(outcome);
  return latency === -1 ? `${fields},timed=0i` : `${fields},latency_ms=${latency}i,timed=1i`;
}

function outcomeFields(outcome: number): string {
  const flag = (is: boolean) => (is ? '1i' : '0i');
  const [up, slow, down] = [0, 1, 2].map((verdict) => flag(verdictOf(outcome) === verdict));
  return `up=${up},slow=${slow},down=${down},suspect=${flag(isSuspect(outcome))},status_code=${codeOf(outcome)}i`;
}

/** Numbers that the details of a sample take: five phases, the days of the certificate, the class of the failure. */
const DETAIL_STRIDE = 7;
const PHASE_FIELDS = ['dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms', 'total_ms'] as const;
const CERTIFICATE_AT = PHASE_FIELDS.length;
const FAILURE_AT = CERTIFICATE_AT + 1;

/** Packs the details of samples for the thread, in order; NaN: it did not happen. Null: no sample has details. */
export function packDetails(samples: readonly Sample[]): Float64Array<ArrayBuffer> | null {
  if (!samples.some(({ detail }) => detail !== undefined)) return null;
  const packed = new Float64Array(samples.length * DETAIL_STRIDE).fill(Number.NaN);
  for (const [index, { at, detail }] of samples.entries()) {
    if (detail === undefined) continue;
    const { timing, certificateExpiresAt, failure } = detail;
    const { dnsMs, connectMs, tlsMs, firstByteMs, totalMs } = timing;
    const from = index * DETAIL_STRIDE;
    for (const [place, ms] of [dnsMs, connectMs, tlsMs, firstByteMs, totalMs].entries())
      if (ms !== null) packed[from + place] = ms;
    if (certificateExpiresAt !== null)
      packed[from + CERTIFICATE_AT] = Math.floor((certificateExpiresAt - at) / DAY_MS);
    if (failure !== null) packed[from + FAILURE_AT] = FAILURE_CLASSES.indexOf(failure);
  }
  return packed;
}

/** The fields of the sample at `index`, each after a comma; empty: none is known. */
function detailFields(packed: Float64Array, index: number): string {
  const from = index * DETAIL_STRIDE;
  let fields = '';
  for (const [place, name] of PHASE_FIELDS.entries()) {
    const ms = packed[from + place] as number;
    // At most three decimals.
    if (!Number.isNaN(ms)) fields += `,${name}=${Math.round(ms * 1_000) / 1_000}`;
  }
  const days = packed[from + CERTIFICATE_AT] as number;
  if (!Number.isNaN(days)) fields += `,certificate_days=${days}i`;
  const failure = FAILURE_CLASSES[packed[from + FAILURE_AT] as number];
  return failure === undefined ? fields : `${fields},failure="${failure}"`;
}

/** The tags of a service, sorted by key as the server recommends. */
export function serviceTags({ serviceId, slug, category }: ServiceLabels): string {
  return `category=${escapeTag(category)},service=${escapeTag(slug)},service_id=${serviceId}`;
}

/** The value of a tag, never empty. */
export function escapeTag(value: string): string {
  // A backslash at the end would escape the comma after it; the protocol has no escape for it.
  const plain = onOneLine(value).replaceAll('\\', '/').trim();
  return plain === '' ? '-' : plain.replaceAll(/([,= ])/g, '\\$1');
}

/** A text field with its quotes. */
export function quoteText(value: string): string {
  const text = onOneLine(value).slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return `"${text.replaceAll(/(["\\])/g, '\\$1')}"`;
}

/** A line never contains a line break, because the spool joins lines by them. */
function onOneLine(value: string): string {
  return value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ');
}
