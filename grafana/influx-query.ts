/** A question to InfluxDB in InfluxQL, in the form that Grafana's data source takes. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { INFLUX, refer } from './data-sources.ts';

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
