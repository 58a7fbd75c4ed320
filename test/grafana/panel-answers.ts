/** Runs the queries of a panel as Grafana does, and says what their answers lack. */
import type { Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import { influxTargets, prometheusTargets } from './dashboard-files.ts';
import { influxQuery, prometheusQuery, type View } from './grafana-words.ts';
import {
  columnsOf,
  type InfluxSeries,
  type MetricServers,
  queryInflux,
  queryPrometheus,
} from './query-servers.ts';

/** Columns that stay empty: the simulated services are asked by their addresses, so that no name is looked up. */
const EMPTY_HERE: Readonly<Record<string, readonly string[]>> = { 'Phases of a request': ['name'] };

/** What a panel's answers lack: rows for each query, and the columns that its looks speak of. */
export async function lackOfPanel(panel: Panel, view: View, fleet: MetricServers): Promise<string | null> {
  const columns: string[] = [];
  const mayBeEmpty = EMPTY_HERE[panel.title ?? ''] ?? [];
  for (const { query, resultFormat, alias = null, refId } of influxTargets(panel)) {
    const series = await queryInflux(fleet, influxQuery(query, view));
    const found = columnsOf(series, resultFormat === 'table' ? null : alias);
    const empty = selectedColumns(series).filter(
      (column) => !mayBeEmpty.includes(column) && !hasValue(series, column),
    );
    if (series.length === 0 || empty.length > 0) return `${refId} has no ${empty.join(', ') || 'rows'}`;
    const [tag] = emptyTags(series, alias);
    if (tag !== undefined) return `${refId} has no tag ${tag}`;
    columns.push(...found);
  }
  for (const { expr, refId, instant = false, format } of prometheusTargets(panel)) {
    const { scrapeInterval } = fleet;
    const query = prometheusQuery(expr, view, scrapeInterval);
    const found = await queryPrometheus(fleet, query, instant ? null : view);
    if (found.length === 0) return `${refId} has no series`;
    const isTable = format === 'table';
    columns.push(...found.flatMap((labels) => (isTable ? Object.keys(labels) : Object.values(labels))));
    if (isTable) columns.push('Time', 'Value');
  }
  return lackOf(namedColumns(panel), columns);
}

/** The columns that a panel's overrides and its order speak of. */
function namedColumns({ fieldConfig, options }: Panel): string[] {
  const overridden = (fieldConfig?.overrides ?? [])
    .filter(({ matcher }) => matcher.id === 'byName')
    .map(({ matcher }) => String(matcher.options));
  const { sortBy = [] } = (options ?? {}) as { sortBy?: readonly { displayName: string }[] };
  return [...overridden, ...sortBy.map(({ displayName }) => displayName)];
}

/** What is wanted and not among what was found; null: nothing. */
export function lackOf(wanted: readonly string[], found: readonly string[]): string | null {
  const lacking = wanted.filter((one) => !found.includes(one));
  return lacking.length === 0 ? null : `lacks ${lacking.join(', ')} among ${found.join(', ') || 'nothing'}`;
}

function selectedColumns(series: readonly InfluxSeries[]): string[] {
  return [...new Set(series.flatMap(({ columns }) => columns))].filter((column) => column !== 'time');
}

/** Whether a column has a value anywhere: a field that is never written is null in every row. */
function hasValue(series: readonly InfluxSeries[], column: string): boolean {
  return series.some(({ columns, values }) => {
    const at = columns.indexOf(column);
    return at !== -1 && values.some((row) => row[at] !== null);
  });
}

/** Tags that group an answer, or name its lines, and have no value: InfluxDB takes any name for a tag. */
function emptyTags(series: readonly InfluxSeries[], alias: string | null): string[] {
  const named = [...(alias ?? '').matchAll(/\$tag_(\w+)/g)].map(([, tag = '']) => tag);
  return series.flatMap(({ tags = {} }) => [...Object.keys(tags), ...named].filter((tag) => !tags[tag]));
}
