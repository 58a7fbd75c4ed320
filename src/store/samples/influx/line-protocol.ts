/** Samples as lines of InfluxDB's protocol; docs/influxdb.md describes tags and fields. */
import { CODE_SHIFT, codeOf, isSuspect, latencyOf, STRIDE, verdictOf } from '../wire.ts';
import { detailFields } from './detail-wire.ts';
import { MEASUREMENT, type ServiceLabels } from './influx-settings.ts';
import { serviceTags } from './line-text.ts';

/** Writes lines; remembers the tags of each service. */
export interface LineWriter {
  /** Names of services, to be told before their first sample and when they change. */
  name(labels: readonly ServiceLabels[]): void;
  /** Lines of packed samples and their packed details, in their order. Times are milliseconds. */
  write(packed: Float64Array, details: Float64Array | null): string[];
}

/** Makes a writer. A sample of a service without a name carries its number alone. */
export function createLineWriter(): LineWriter {
  const series = new Map<number, string>();
  return {
    name(labels) {
      for (const one of labels) series.set(one.serviceId, `${MEASUREMENT},${serviceTags(one)}`);
    },
    write(packed, details) {
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

/** Verdict, suspicion and status code as fields; there are few of them, and every check has one. */
const outcomes = new Map<number, string>();

// A field that is missing from a later point with the same time would keep its earlier value: `timed` says whether
// `latency_ms` counts.
function fieldsOf(rest: number): string {
  const key = Math.floor(rest / CODE_SHIFT);
  let outcome = outcomes.get(key);
  if (outcome === undefined) {
    outcome = outcomeFields(rest);
    outcomes.set(key, outcome);
  }
  const latency = latencyOf(rest);
  return latency === -1 ? `${outcome},timed=0i` : `${outcome},latency_ms=${latency}i,timed=1i`;
}

function outcomeFields(rest: number): string {
  const verdict = verdictOf(rest);
  const flags = `up=${flag(verdict === 0)},slow=${flag(verdict === 1)},down=${flag(verdict === 2)}`;
  return `${flags},suspect=${flag(isSuspect(rest))},status_code=${codeOf(rest)}i`;
}

function flag(is: boolean): string {
  return is ? '1i' : '0i';
}
