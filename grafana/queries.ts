/** The two data sources of the dashboards, selected by a variable each, and their queries. `provisioning/` sets them up. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { DatasourceVariableBuilder, type VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus';

/** A data source. */
export interface DataSource {
  readonly type: 'influxdb' | 'prometheus';
  /** Name of the variable that selects it. */
  readonly variable: string;
  /** Unique id of the provisioned data source, the initial value of the variable. */
  readonly provisionedUid: string;
  readonly title: string;
}

/** Samples, transitions, incidents and heartbeats (docs/influxdb.md), queried in InfluxQL. */
export const INFLUX: DataSource = {
  type: 'influxdb',
  variable: 'influx',
  provisionedUid: 'upbeat-influxdb',
  title: 'InfluxDB',
};

/** The metrics of `/metrics`. */
export const PROMETHEUS: DataSource = {
  type: 'prometheus',
  variable: 'prometheus',
  provisionedUid: 'upbeat-prometheus',
  title: 'Prometheus',
};

/** The reference to a data source in panels, variables and annotations. */
export function refer({ type, variable }: DataSource): { type: string; uid: string } {
  return { type, uid: `\${${variable}}` };
}

/** The variable that selects a data source. */
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

/** An InfluxQL query in a dashboard. Grafana accepts one statement for each query. */
export interface InfluxTarget extends Dataquery {
  readonly datasource: { type: string; uid: string };
  readonly refId: string;
  readonly query: string;
  readonly rawQuery: true;
  readonly resultFormat: 'time_series' | 'table';
  /** Name of a series: text, `$col` or `$tag_<tag>`. Absent in tables. */
  readonly alias?: string;
}

/** Condition: the selected region. With all regions, it also holds for checks that name none. */
const OF_REGION = '"region" =~ /^$region$/';

/** Condition: the checks of the selected category, region and time. */
export const CHECKS = `$timeFilter AND "category" =~ /^$category$/ AND ${OF_REGION}`;

/** {@link CHECKS} without suspect results. */
export const TRUSTED = `${CHECKS} AND "suspect" = 0`;

/** Condition: the selected service by its id, since a slug may have been another service's before. */
export const OF_SERVICE = `$timeFilter AND "service_id" = '$service'`;

/** {@link CHECKS} for the selected service. */
export const CHECKS_OF_SERVICE = `${OF_SERVICE} AND ${OF_REGION}`;

/** {@link TRUSTED} for the selected service. */
export const TRUSTED_OF_SERVICE = `${CHECKS_OF_SERVICE} AND "suspect" = 0`;

/** An InfluxQL query for time series. */
export function lines(query: string, alias = '$col'): (refId: string) => Builder<Dataquery> {
  return (refId) => target({ refId, query, resultFormat: 'time_series', alias });
}

/** An InfluxQL query for a table with the columns of the query. */
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

/** A PromQL query for time series; `legend` may contain `{{label}}`. */
export function series(expr: string, legend: string): (refId: string) => Builder<Dataquery> {
  return (refId) =>
    new DataqueryBuilder().datasource(refer(PROMETHEUS)).refId(refId).expr(expr).legendFormat(legend).range();
}

/** A PromQL query for the current value. */
export function present(expr: string, legend: string): (refId: string) => Builder<Dataquery> {
  return (refId) =>
    new DataqueryBuilder()
      .datasource(refer(PROMETHEUS))
      .refId(refId)
      .expr(expr)
      .legendFormat(legend)
      .instant();
}

/** A PromQL query for a table of the current values, with the labels as columns beside `Value`. */
export function presentRows(expr: string): (refId: string) => Builder<Dataquery> {
  return (refId) =>
    new DataqueryBuilder()
      .datasource(refer(PROMETHEUS))
      .refId(refId)
      .expr(expr)
      .instant()
      .format(PromQueryFormat.Table);
}
