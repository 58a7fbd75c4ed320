/** Reads the dashboards as Grafana does: from their files. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dashboard, Panel, VariableModel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { AnnotationTarget } from '../../grafana/dashboard.ts';
import type { InfluxTarget } from '../../grafana/queries.ts';

/** The repository's folder of Grafana. */
export const GRAFANA_FOLDER = join(import.meta.dirname, '../../grafana');

/** A query to Prometheus as it stands in a file. */
export interface PrometheusTarget {
  readonly refId: string;
  readonly expr: string;
  /** The present value alone, instead of one for each width of the range. */
  readonly instant?: boolean;
  /** `table`: labels are columns. */
  readonly format?: string;
  readonly datasource: { readonly type: string };
}

/** A dashboard and the name of its file. */
export interface FoundDashboard {
  readonly name: string;
  readonly dashboard: Dashboard;
}

/** Every dashboard, by the names of their files. */
export function readDashboards(): FoundDashboard[] {
  const folder = join(GRAFANA_FOLDER, 'dashboards');
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, dashboard: JSON.parse(readFileSync(join(folder, name), 'utf8')) as Dashboard }));
}

/** The panels, rows of panels left out. */
export function panelsOf({ panels = [] }: Dashboard): Panel[] {
  return panels.filter((panel): panel is Panel => panel.type !== 'row');
}

/** The variables. */
export function variablesOf({ templating }: Dashboard): readonly VariableModel[] {
  return templating.list ?? [];
}

/** The queries of a panel to one data source. */
export function influxTargets({ targets = [] }: Panel): InfluxTarget[] {
  return (targets as unknown as InfluxTarget[]).filter(({ datasource }) => datasource.type === 'influxdb');
}

/** The queries of a panel to Prometheus. */
export function prometheusTargets({ targets = [] }: Panel): PrometheusTarget[] {
  return (targets as unknown as PrometheusTarget[]).filter(
    ({ datasource }) => datasource.type === 'prometheus',
  );
}

/** The queries of the marks on the time axis. */
export function annotationTargets({ annotations }: Dashboard): AnnotationTarget[] {
  return (annotations.list ?? []).flatMap(({ target }) =>
    target === undefined ? [] : [target as AnnotationTarget],
  );
}
