/** Panels with the looks that all dashboards share. Each returns Grafana's builder, to be refined. */
import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphDrawStyle,
  LegendDisplayMode,
  LegendPlacement,
  ReduceDataOptionsBuilder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import {
  type DashboardLink,
  FieldColorBuilder,
  FieldColorModeId,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat';
import { PanelBuilder as StateTimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { PanelBuilder as TimeSeriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { type DataSource, INFLUX, refer } from './queries.ts';
import { statusMappings } from './status-colours.ts';

/** A question that still needs its letter. */
export type Question = (refId: string) => Builder<Dataquery>;

/** What every panel has. */
export interface PanelFacts {
  readonly title: string;
  /** What is shown, in a sentence or two; seen when the pointer rests on the panel. */
  readonly description: string;
  /** Grafana's name of the unit; `none` for text. */
  readonly unit: string;
  /** Columns of the grid's 24. */
  readonly width: number;
  /** Rows of the grid, 30 pixels each. Default 8. */
  readonly height?: number;
  /** Default InfluxDB. */
  readonly from?: DataSource;
  readonly questions: readonly Question[];
}

/** The building steps that all kinds of panel have. */
interface AnyPanelBuilder {
  title(title: string): this;
  description(description: string): this;
  unit(unit: string): this;
  span(columns: number): this;
  height(rows: number): this;
  datasource(source: { type: string; uid: string }): this;
  targets(targets: Builder<Dataquery>[]): this;
}

/** Lines over time, with a legend of last and largest values. */
export function timeSeries(facts: PanelFacts): TimeSeriesBuilder {
  return filled(new TimeSeriesBuilder(), facts)
    .interval('1m')
    .lineWidth(1)
    .fillOpacity(10)
    .showPoints(VisibilityMode.Auto)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs(['lastNotNull', 'max']),
    )
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi));
}

/** Amounts over time that stand on each other. */
export function stacked(facts: PanelFacts): TimeSeriesBuilder {
  return timeSeries(facts)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(0)
    .fillOpacity(70)
    .showPoints(VisibilityMode.Never)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** One large value, the newest. */
export function stat(facts: PanelFacts): StatBuilder {
  return filled(new StatBuilder(), { height: 4, ...facts })
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None);
}

/** A table; its columns are refined by name. */
export function table(facts: PanelFacts): TableBuilder {
  return filled(new TableBuilder(), facts).showHeader(true);
}

/** Statuses as coloured stretches with their words. */
export function statusTimeline(facts: PanelFacts): StateTimelineBuilder {
  return filled(new StateTimelineBuilder(), facts)
    .interval('1m')
    .mappings(statusMappings())
    .colorScheme(new FieldColorBuilder().mode(FieldColorModeId.Thresholds))
    .mergeValues(true)
    .showValue(VisibilityMode.Auto)
    .rowHeight(0.9)
    .legend(
      new VizLegendOptionsBuilder()
        .displayMode(LegendDisplayMode.List)
        .placement(LegendPlacement.Bottom)
        .showLegend(true)
        .calcs([]),
    );
}

/** The property of a column that gives it one colour. */
export function fixedColour(colour: string): { id: string; value: unknown } {
  return { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: colour } };
}

/** The properties of a column whose cells are coloured by thresholds of their own. */
export function colouredCells(unit: string, thresholds: Builder<unknown>): { id: string; value: unknown }[] {
  return [
    { id: 'unit', value: unit },
    { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
    { id: 'thresholds', value: thresholds.build() },
    { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
  ];
}

/** The properties of a column that holds statuses, as words or as numbers. */
export function statusCells(): { id: string; value: unknown }[] {
  return [
    { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
    { id: 'mappings', value: statusMappings() },
  ];
}

/** The property of a column whose cells lead somewhere. */
export function linkedCells(...links: readonly Builder<DashboardLink>[]): { id: string; value: unknown } {
  return {
    id: 'links',
    value: links.map((link) => {
      const { title, url, targetBlank } = link.build();
      return { title, url, targetBlank };
    }),
  };
}

/** Leaves a column out. */
export const HIDDEN: { id: string; value: unknown } = { id: 'custom.hidden', value: true };

function filled<B extends AnyPanelBuilder>(panel: B, facts: PanelFacts): B {
  const { title, description, unit, width, height = 8, from = INFLUX, questions } = facts;
  return panel
    .title(title)
    .description(description)
    .unit(unit)
    .span(width)
    .height(height)
    .datasource(refer(from))
    .targets(questions.map((question, index) => question(String.fromCharCode(65 + index))));
}
