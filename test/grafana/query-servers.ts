/** Asks the servers as Grafana's data sources do. */
import { milliseconds, type View } from './grafana-words.ts';

/** Where the data of dashboards are. */
export interface MetricServers {
  readonly influxUrl: string;
  readonly database: string;
  readonly prometheusUrl: string;
  /** How often `/metrics` is read, in Grafana's words. */
  readonly scrapeInterval: string;
}

/** A series of InfluxDB's answer. */
export interface InfluxSeries {
  readonly name: string;
  readonly tags?: Readonly<Record<string, string>>;
  readonly columns: readonly string[];
  readonly values: readonly (readonly unknown[])[];
}

interface InfluxResult {
  readonly error?: string;
  readonly series?: readonly InfluxSeries[];
}

interface PrometheusAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      /** Of a range. */
      readonly values?: readonly (readonly [number, string])[];
      /** Of the present. */
      readonly value?: readonly [number, string];
    }[];
  };
}

/** The series of a query in InfluxQL; throws where the server finds fault with it. */
export async function queryInflux(
  { influxUrl, database }: MetricServers,
  query: string,
): Promise<readonly InfluxSeries[]> {
  const response = await fetch(`${influxUrl}/query?db=${database}&epoch=ms`, {
    method: 'POST',
    body: new URLSearchParams({ q: query }),
  });
  const { results = [], error } = (await response.json()) as {
    readonly results?: readonly InfluxResult[];
    readonly error?: string;
  };
  const fault = error ?? results.find((result) => result.error !== undefined)?.error;
  if (fault !== undefined) throw new Error(`${query}: ${fault}`);
  return results[0]?.series ?? [];
}

/**
 * Names of the columns as Grafana shows them. With an alias each group's column is a line of its own; without one the
 * answer is a table with the tags as columns.
 */
export function columnsOf(series: readonly InfluxSeries[], alias: string | null): string[] {
  return series.flatMap(({ columns, tags = {} }) => {
    const selected = columns.filter((column) => column !== 'time');
    if (alias === null) return ['Time', ...Object.keys(tags), ...selected];
    return selected.map((column) =>
      alias.replaceAll(/\$(?:col|tag_(\w+))/g, (_, tag?: string) =>
        tag === undefined ? column : (tags[tag] ?? ''),
      ),
    );
  });
}

/**
 * The labels of the series of a query to Prometheus that have a number; for each width of a view, or, where there is
 * none, at present. Throws where the server finds fault.
 */
export async function queryPrometheus(
  { prometheusUrl }: MetricServers,
  query: string,
  view: View | null,
): Promise<readonly Readonly<Record<string, string>>[]> {
  const range: Readonly<Record<string, string>> =
    view === null
      ? {}
      : {
          start: String(view.from / 1_000),
          end: String(view.to / 1_000),
          step: String(milliseconds(view.interval) / 1_000),
          // Without it VictoriaMetrics answers for whole steps alone, and the present minute is missing.
          nocache: '1',
        };
  const body = new URLSearchParams({ query, ...range });
  const path = view === null ? 'query' : 'query_range';
  const response = await fetch(`${prometheusUrl}/api/v1/${path}`, { method: 'POST', body });
  const answer = (await response.json()) as PrometheusAnswer;
  if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
  return answer.data.result
    .filter(({ value, values = value === undefined ? [] : [value] }) =>
      values.some(([, number]) => !Number.isNaN(Number(number))),
    )
    .map(({ metric }) => metric);
}

/** The answer to `label_values(metric, label)`. */
export async function labelValues(
  { prometheusUrl }: MetricServers,
  query: string,
): Promise<readonly string[]> {
  const [, metric = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
  const response = await fetch(`${prometheusUrl}/api/v1/label/${label}/values?match[]=${metric}`);
  const { data = [] } = (await response.json()) as { readonly data?: readonly string[] };
  return data;
}
