/** Settings of InfluxDB (operating, `storage.influx`), the faults of a server or of its settings, and what an operator can do about each. */
import { SampleReadError, type SampleReadErrorCode } from '../../ports/samples.ts';

/** Settings; plain data that crosses threads. */
export interface InfluxSettings {
  /** `http://` or `https://`, without a slash at its end. */
  readonly url: string;
  /** A token, for `v1` `user:password`; null: none is needed. Never logged. */
  readonly token: string | null;
  /** Organisation, for `v2`; null: the server has none. */
  readonly org: string | null;
  /** Bucket, for `v1` the database. */
  readonly bucket: string;
  /** `v2`: InfluxDB 1.8 and newer, and compatible servers. `v1`: InfluxDB 1.6 and 1.7. */
  readonly api: 'v1' | 'v2';
}

/** Names of a service in the tags of its points. */
export interface ServiceLabels {
  readonly serviceId: number;
  readonly slug: string;
  readonly category: string;
}

/** Default bucket or database. */
export const DEFAULT_BUCKET = 'upbeat';

export const MEASUREMENT = 'upbeat_check';

/** The `Authorization` header of every request; empty: none. */
export function authorizationOf({ token, api }: InfluxSettings): Record<string, string> {
  if (token === null) return {};
  return {
    authorization: api === 'v1' ? `Basic ${Buffer.from(token).toString('base64')}` : `Token ${token}`,
  };
}

/** The text of a server or a proxy about a request, for logs and `/readyz`, in case it repeats what it was sent. */
export function withoutAuthorization(
  text: string,
  { authorization = '' }: Readonly<Record<string, string>>,
): string {
  const [, credentials = ''] = authorization.split(' ');
  return credentials === '' ? text : text.replaceAll(credentials, '***');
}

/**
 * `unreachable`: no response; `token`, `rights`: the token is unknown or may not do it; `org`, `bucket`: the server lacks
 * what the settings name; `busy`: it limits the rate; `server`: its own error; `no_influxql`: it only accepts points, as
 * VictoriaMetrics does; `other`: anything else.
 */
export type InfluxFault =
  | 'unreachable'
  | 'token'
  | 'rights'
  | 'org'
  | 'bucket'
  | 'busy'
  | 'server'
  | 'no_influxql'
  | 'other';

/** A query or a request of the setup that failed. */
export class InfluxError extends SampleReadError {
  readonly fault: InfluxFault;

  constructor(fault: InfluxFault, problem: string) {
    super(CODES[fault], problem);
    this.fault = fault;
  }
}

const CODES: Readonly<Record<InfluxFault, SampleReadErrorCode>> = {
  unreachable: 'samples_away',
  busy: 'samples_away',
  server: 'samples_away',
  no_influxql: 'samples_away',
  token: 'samples_refused',
  rights: 'samples_refused',
  org: 'samples_refused',
  bucket: 'samples_refused',
  other: 'samples_refused',
};

/** The fault behind a response that is not success. `status` 0: no response arrived. */
export function faultOf(status: number, message: string): InfluxFault {
  if (status === 0) return 'unreachable';
  if (status === 401) return 'token';
  if (status === 403) return 'rights';
  if (status === 429) return 'busy';
  if (status >= 500) return 'server';
  if (/\borganization\b|\borgID\b/.test(message)) return 'org';
  return status === 404 || /database not found/.test(message) ? 'bucket' : 'other';
}

/** Advice on a problem; one sentence without secrets. */
export function adviceFor(fault: InfluxFault, { bucket = DEFAULT_BUCKET, org, api }: InfluxSettings): string {
  switch (fault) {
    case 'unreachable':
      return 'start InfluxDB, or set storage.influx.url to where it is; samples wait on disk meanwhile';
    case 'token':
    case 'rights':
      return `set storage.influx.token to one that may read and write ${bucket}`;
    case 'org':
      return org === null
        ? 'set storage.influx.org to the name or id of the organisation: InfluxDB 2 takes nothing without it'
        : 'set storage.influx.org to the name or id of an organisation that is there';
    case 'bucket':
      return api === 'v1'
        ? `run upbeat doctor --setup, which makes the database ${bucket}, or set storage.influx.bucket to one that is there`
        : `run upbeat doctor --setup, which makes the bucket ${bucket} and a mapping of the database, or set storage.influx.token to one that may read and write it`;
    case 'busy':
      return 'it limits the rate of requests: samples wait on disk until it takes them';
    case 'server':
      return 'see the log of InfluxDB; samples wait on disk meanwhile';
    case 'no_influxql':
      return 'ask it for histories by Grafana: InfluxDB alone answers InfluxQL';
    case 'other':
      return 'see docs/influxdb.md';
  }
}
