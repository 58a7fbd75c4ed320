/** What all dashboards have: id, links, data sources, time, and numbers for their panels. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import {
  type AnnotationQuery,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  type Panel,
  type VariableModel,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { dataSourceVariable, INFLUX, PROMETHEUS } from './data-sources.ts';
import { headLinks, TAG } from './links.ts';

/** What a dashboard is made of. */
export interface DashboardParts {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Beginning of the time that is shown at first, in Grafana's words: `now-6h`. */
  readonly from: string;
  readonly variables: readonly Builder<VariableModel>[];
  readonly annotations?: readonly Builder<AnnotationQuery>[];
  /** In reading order; they are laid out line by line. */
  readonly panels: readonly Builder<Panel>[];
}

/** Puts a dashboard together. */
export function buildDashboard(parts: DashboardParts): Dashboard {
  const { uid, title, description, from, variables, annotations = [], panels } = parts;
  const builder = new DashboardBuilder(title)
    .uid(uid)
    .description(description)
    .tags([TAG])
    .timezone('browser')
    .editable()
    .tooltip(DashboardCursorSync.Crosshair)
    .time({ from, to: 'now' })
    .refresh('1m')
    .links(headLinks())
    .variables([dataSourceVariable(INFLUX), dataSourceVariable(PROMETHEUS), ...variables])
    .annotations([...annotations]);
  panels.forEach((panel, index) => {
    builder.withPanel({ build: () => ({ ...panel.build(), id: index + 1 }) });
  });
  return builder.build();
}
