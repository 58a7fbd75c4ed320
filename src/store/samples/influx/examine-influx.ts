/** What `upbeat doctor` finds of InfluxDB: whether it is there, lets us in, and has the database. */
import { openInfluxLink } from './influx-link.ts';
import { type InfluxSettings, MEASUREMENT } from './influx-settings.ts';

/** What was found, and what to mend; `advice` null: all is well. */
export interface InfluxFinding {
  readonly found: string;
  readonly advice: string | null;
}

/** Asks once for what a history asks for. Never rejects. */
export async function examineInflux(settings: InfluxSettings): Promise<InfluxFinding> {
  const { url, bucket, api } = settings;
  const link = openInfluxLink(settings);
  try {
    await link.query([`SELECT up FROM ${MEASUREMENT} WHERE time > now() - 1m LIMIT 1`]);
    return { found: `${url} has ${bucket}`, advice: null };
  } catch (error) {
    const { message } = error as Error;
    return { found: message, advice: adviceFor(message, bucket, api) };
  } finally {
    await link.close();
  }
}

/** What to mend where a request ended with `message`. */
export function adviceFor(message: string, bucket: string, api: InfluxSettings['api']): string {
  if (/does not answer/.test(message))
    return 'start InfluxDB, or set storage.influx.url to where it is; samples wait on disk meanwhile';
  if (/HTTP 40[13]/.test(message)) return 'set storage.influx.token to one that may read and write';
  if (/database not found|HTTP 404/.test(message))
    return api === 'v1'
      ? `run upbeat doctor --setup, which makes the database ${bucket}, or set storage.influx.bucket to one that is there`
      : `run upbeat doctor --setup, which makes the bucket ${bucket} and a mapping of the database, or histories cannot be read`;
  return 'see docs/influxdb.md';
}
