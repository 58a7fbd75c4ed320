/** What tests of the InfluxDB store share: how it is opened, and what stands in the server. */
import { silentLog } from '../../src/log.ts';
import { type InfluxSamples, openInfluxSamples } from '../../src/store/samples/influx/influx-samples.ts';
import type { InfluxSettings } from '../../src/store/samples/influx/influx-settings.ts';
import { hasProgram } from '../support/install-servers.ts';

/** For suites that need a real InfluxDB. */
export const NEEDS_INFLUX = hasProgram('influxd')
  ? {}
  : { skip: 'influxd is not there: apt-get install influxdb' };
/** For suites that need a real VictoriaMetrics. */
export const NEEDS_VICTORIA = hasProgram('victoria-metrics')
  ? {}
  : { skip: 'victoria-metrics is not there: apt-get install victoria-metrics' };

/** How to open a store. */
export interface OpenOptions {
  readonly settings: InfluxSettings;
  readonly dataDir: string;
  readonly spoolBytes?: number;
  readonly timeoutMs?: number;
}

/** Opens the store; every service has a name that must be escaped. */
export function openInflux(options: OpenOptions): Promise<InfluxSamples> {
  return openInfluxSamples({ ...options, labelsOf, log: silentLog });
}

/** The names of services in these tests. */
export function labelsOf(serviceId: number) {
  return { slug: `service, =${serviceId}`, category: 'developer' };
}

/** Settings for a database of version 1. */
export function settingsOf(url: string, bucket: string, more: Partial<InfluxSettings> = {}): InfluxSettings {
  return { url, token: null, org: null, bucket, api: 'v1', ...more };
}

/** Waits for a condition; throws after a time that no machine needs. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'it'): Promise<void> {
  for (const deadline = performance.now() + 90_000; !(await condition()); ) {
    if (performance.now() > deadline) throw new Error(`${what} did not happen`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** A row of an answer, by column. */
export type Row = Readonly<Record<string, string | number | null>>;

/** The rows of a statement, of all its series; columns without a value are left out. */
export async function rowsOf(url: string, database: string, statement: string): Promise<Row[]> {
  const query = new URLSearchParams({ db: database, epoch: 'ms', q: statement });
  const response = await fetch(`${url}/query?${query}`);
  const { results } = (await response.json()) as {
    results: {
      error?: string;
      series?: { columns: string[]; values: (string | number | null)[][] }[];
    }[];
  };
  const [result] = results;
  if (result?.error !== undefined) throw new Error(result.error);
  return (result?.series ?? []).flatMap(({ columns, values }) =>
    values.map((row) =>
      Object.fromEntries(
        columns.flatMap((column, index) => (row[index] === null ? [] : [[column, row[index] ?? null]])),
      ),
    ),
  );
}
