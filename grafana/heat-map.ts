/** The heat map of latency: how many checks took how long, over time. */
import { HeatmapCellLayout } from '@grafana/grafana-foundation-sdk/common';
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  PanelBuilder,
  RowsHeatmapOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import { INFLUX, refer } from './data-sources.ts';
import { lines, TRUSTED } from './influx-query.ts';

/** Bounds of the classes, milliseconds. The last is the limit between up and slow (contract 3). */
const BOUNDS_MS = [50, 100, 200, 400, 800, 1_500, 3_000];

/**
 * Makes it, `width` of the grid's 24 columns wide. The server counts each class, so that what is sent does not grow
 * with the fleet.
 */
export function latencyHeatMap(width: number): PanelBuilder {
  const classes = [...BOUNDS_MS, null].map((toMs, index) => ({ fromMs: BOUNDS_MS[index - 1] ?? null, toMs }));
  const questions = classes.map(({ fromMs, toMs }, index) => {
    const bounds = [
      ...(fromMs === null ? [] : [`"latency_ms" > ${fromMs}`]),
      ...(toMs === null ? [] : [`"latency_ms" <= ${toMs}`]),
    ].join(' AND ');
    const name = toMs === null ? `over ${fromMs} ms` : `to ${toMs} ms`;
    return lines(
      `SELECT count("latency_ms") AS "checks" FROM "upbeat_check" WHERE ${TRUSTED} AND "timed" = 1 AND ${bounds}
       GROUP BY time($__interval) fill(0)`,
      name,
    )(String.fromCharCode(65 + index));
  });
  return new PanelBuilder()
    .title('Latency of all checks')
    .description(
      'How many checks took how long. What lies over the topmost line was slow: over three seconds.',
    )
    .unit('short')
    .span(width)
    .height(8)
    .interval('1m')
    .datasource(refer(INFLUX))
    .targets(questions)
    .calculate(false)
    .rowsFrame(new RowsHeatmapOptionsBuilder().layout(HeatmapCellLayout.Unknown))
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        .scale(HeatmapColorScale.Exponential)
        .exponent(0.5)
        // Its lightness grows evenly, so that it reads without colours too.
        .scheme('Viridis')
        .fill('dark-orange')
        .steps(64),
    )
    .cellGap(1)
    .showLegend();
}
