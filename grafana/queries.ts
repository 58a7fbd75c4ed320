/** The two data sources that the dashboards ask, chosen by a variable each; `provisioning/` sets them up. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { DatasourceVariableBuilder, type VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';

/** A data source as a panel refers to it. */
export interface DataSource {
  readonly type: 'influxdb' | 'prometheus';
  /** Name of the variable that chooses it. */
  readonly variable: string;
  /** Unique id of the provisioned one, which the variable holds at first. */
  readonly provisionedUid: string;
  readonly title: string;
}

/** Every sample, transition, incident and heartbeat: docs/influxdb.md. Asked in InfluxQL. */
export const INFLUX: DataSource = {
  type: 'influxdb',
  variable: 'influx',
  provisionedUid: 'upbeat-influxdb',
  title: 'InfluxDB',
};

/** Upbeat's own figures from `/metrics`. */
export const PROMETHEUS: DataSource = {
  type: 'prometheus',
  variable: 'prometheus',
  provisionedUid: 'upbeat-prometheus',
  title: 'Prometheus',
};

/** The reference that a panel, variable or annotation carries. */
export function refer({ type, variable }: DataSource): { type: string; uid: string } {
  return { type, uid: `\${${variable}}` };
}

/** The variable by which a viewer chooses among the data sources of one type. */
export function dataSourceVariable({
  type,
  variable,
  title,
  provisionedUid,
}: DataSource): Builder<VariableModel> {
  return new DatasourceVariableBuilder(variable)
    .label(title)
    .description(`The ${title} that Upbeat's figures are in.`)
    .type(type)
    .current({ selected: true, text: title, value: provisionedUid });
}

/** How the answer is read: a line for each column and group, or one table. */
export type InfluxFormat = 'time_series' | 'table';

/** A question as it stands in a dashboard. Grafana takes one statement a question. */
export interface InfluxTarget extends Dataquery {
  readonly datasource: { type: string; uid: string };
  readonly refId: string;
  readonly query: string;
  readonly rawQuery: true;
  readonly resultFormat: InfluxFormat;
  /** Name of a line: text, `$col` or `$tag_<tag>`. Absent in tables. */
  readonly alias?: string;
}

/** The checks of the chosen category in the chosen time that tell of the service, not of ourselves. */
export const TRUSTED = '$timeFilter AND "category" =~ /^$category$/ AND "suspect" = 0';

/** Everything of the chosen service, by its id: a slug may have been another service's before. */
export const OF_SERVICE = `$timeFilter AND "service_id" = '$service'`;

/** As `TRUSTED`, for the chosen service. */
export const TRUSTED_OF_SERVICE = `${OF_SERVICE} AND "suspect" = 0`;

/** Lines over time. */
export function lines(query: string, alias = '$col'): (refId: string) => Builder<Dataquery> {
  return (refId) => target({ refId, query, resultFormat: 'time_series', alias });
}

/** A table whose columns have the names of the query. */
export function rows(query: string): (refId: string) => Builder<Dataquery> {
  return (refId) => target({ refId, query, resultFormat: 'table' });
}

function target(
  fields: Pick<InfluxTarget, 'refId' | 'query' | 'resultFormat' | 'alias'>,
): Builder<Dataquery> {
  const built: InfluxTarget = {
    datasource: refer(INFLUX),
    rawQuery: true,
    ...fields,
    query: fields.query.trim().replaceAll(/\s+/g, ' '),
    _implementsDataqueryVariant: () => {},
  };
  return { build: () => built };
}

/** Lines over time; `legend` may hold `{{label}}`. */
export function series(expr: string, legend: string): (refId: string) => Builder<Dataquery> {
  return (refId) =>
    new DataqueryBuilder().datasource(refer(PROMETHEUS)).refId(refId).expr(expr).legendFormat(legend).range();
}

/** The present value alone. */
export function present(expr: string, legend: string): (refId: string) => Builder<Dataquery> {
  return (refId) =>
    new DataqueryBuilder()
      .datasource(refer(PROMETHEUS))
      .refId(refId)
      .expr(expr)
      .legendFormat(legend)
      .instant();
}
