/** Settings of InfluxDB (operating, `storage.influx`). */

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

/** Measurement of all checks. */
export const MEASUREMENT = 'upbeat_check';

/** The `Authorization` header of every request; empty: none. */
export function authorizationOf({ token, api }: InfluxSettings): Record<string, string> {
  if (token === null) return {};
  return {
    authorization: api === 'v1' ? `Basic ${Buffer.from(token).toString('base64')}` : `Token ${token}`,
  };
}
