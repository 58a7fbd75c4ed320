/** Panels in the style of all dashboards. Each function returns Grafana's builder for further settings. */
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

/** A query without its letter. */
export type Query = (refId: string) => Builder<Dataquery>;

/** The properties of every panel. */
export interface PanelProperties {
  readonly title: string;
  /** Shown when the pointer is over the panel. */
  readonly description: string;
  /** Grafana's name of the unit; `none` for text. */
  readonly unit: string;
  /** Columns of the grid's 24. */
  readonly width: number;
  /** Rows of the grid, 30 pixels each. Default 8. */
  readonly height?: number;
  /** Default InfluxDB. */
  readonly from?: DataSource;
  readonly queries: readonly Query[];
}

/** The methods that the builders of all panels have. */
interface AnyPanelBuilder {
  title(title: string): this;
  description(description: string): this;
  unit(unit: string): this;
  span(columns: number): this;
  height(rows: number): this;
  datasource(source: { type: string; uid: string }): this;
  targets(targets: Builder<Dataquery>[]): this;
}

/** Lines over time with the last and the maximum value in the legend. */
export function timeSeries(properties: PanelProperties): TimeSeriesBuilder {
  return filled(new TimeSeriesBuilder(), properties)
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

/** Stacked areas over time. */
export function stacked(properties: PanelProperties): TimeSeriesBuilder {
  return timeSeries(properties)
    .drawStyle(GraphDrawStyle.Line)
    .lineWidth(0)
    .fillOpacity(70)
    .showPoints(VisibilityMode.Never)
    .stacking(new StackingConfigBuilder().mode(StackingMode.Normal).group('A'));
}

/** The last value in large digits. */
export function stat(properties: PanelProperties): StatBuilder {
  return filled(new StatBuilder(), { height: 4, ...properties })
    .reduceOptions(new ReduceDataOptionsBuilder().calcs(['lastNotNull']).fields('').values(false))
    .colorMode(BigValueColorMode.Background)
    .graphMode(BigValueGraphMode.None);
}

/** A table. */
export function table(properties: PanelProperties): TableBuilder {
  return filled(new TableBuilder(), properties).showHeader(true);
}

/** Statuses over time as coloured and labelled bars. */
export function statusTimeline(properties: PanelProperties): StateTimelineBuilder {
  return filled(new StateTimelineBuilder(), properties)
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

/** Property of a field: a fixed colour. */
export function fixedColour(colour: string): { id: string; value: unknown } {
  return { id: 'color', value: { mode: FieldColorModeId.Fixed, fixedColor: colour } };
}

/** Properties of a column: a unit, and cells coloured by thresholds. */
export function colouredCells(unit: string, thresholds: Builder<unknown>): { id: string; value: unknown }[] {
  return [
    { id: 'unit', value: unit },
    { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
    { id: 'thresholds', value: thresholds.build() },
    { id: 'color', value: { mode: FieldColorModeId.Thresholds } },
  ];
}

/** Properties of a column: statuses, as words or numbers. */
export function statusCells(): { id: string; value: unknown }[] {
  return [
    { id: 'custom.cellOptions', value: { type: 'color-background', mode: 'basic' } },
    { id: 'mappings', value: statusMappings() },
  ];
}

/** Property of a column: links in its cells. */
export function linkedCells(...links: readonly Builder<DashboardLink>[]): { id: string; value: unknown } {
  return {
    id: 'links',
    value: links.map((link) => {
      const { title, url, targetBlank } = link.build();
      return { title, url, targetBlank };
    }),
  };
}

/** Property of a column: hidden. */
export const HIDDEN: { id: string; value: unknown } = { id: 'custom.hidden', value: true };

function filled<B extends AnyPanelBuilder>(panel: B, properties: PanelProperties): B {
  const { title, description, unit, width, height = 8, from = INFLUX, queries } = properties;
  return panel
    .title(title)
    .description(description)
    .unit(unit)
    .span(width)
    .height(height)
    .datasource(refer(from))
    .targets(queries.map((query, index) => query(String.fromCharCode(65 + index))));
}
