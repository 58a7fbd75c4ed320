/** A question to Prometheus. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PROMETHEUS, refer } from './data-sources.ts';

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
