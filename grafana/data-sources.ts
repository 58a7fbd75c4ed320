/** The two data sources that the dashboards ask, chosen by a variable each; `provisioning/` sets them up. */

import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import { DatasourceVariableBuilder, type VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';

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
