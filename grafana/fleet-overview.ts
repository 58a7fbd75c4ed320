/** The dashboard of all services. */
import {
  GraphDrawStyle,
  HeatmapCellLayout,
  TableSortByFieldStateBuilder,
} from '@grafana/grafana-foundation-sdk/common';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  HeatmapColorMode,
  HeatmapColorOptionsBuilder,
  HeatmapColorScale,
  PanelBuilder,
  RowsHeatmapOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/heatmap';
import {
  buildDashboard,
  CELL_SLUG,
  categoryVariable,
  DASHBOARD_UIDS,
  ROW_SERVICE_ID,
  regionVariable,
  serviceLink,
  servicePage,
  siteVariable,
} from './dashboard.ts';
import {
  colouredCells,
  fixedColour,
  HIDDEN,
  linkedCells,
  type Query,
  stacked,
  stat,
  statusCells,
  table,
} from './panels.ts';
import { CHECKS, INFLUX, lines, PROMETHEUS, refer, rows, series, TRUSTED } from './queries.ts';
import {
  countSteps,
  latencySteps,
  noneSteps,
  plainSteps,
  STATUS_COLOURS,
  uptimeSteps,
} from './status-colours.ts';

const OF_CATEGORY = '$timeFilter AND "category" =~ /^$category$/';
const TO_SERVICE = linkedCells(serviceLink(ROW_SERVICE_ID), servicePage(CELL_SLUG));

/** Builds the dashboard. */
export function fleetOverview(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.fleet,
    title: 'Upbeat: the fleet',
    description:
      'All services: their statuses, the slowest, those that flap, those that were down most, incidents.',
    from: 'now-6h',
    variables: [categoryVariable('upbeat_check'), regionVariable(), siteVariable()],
    panels: [
      statusCount('up', 'Operational', 'Services whose last check was up.'),
      statusCount('slow', 'Slow', 'Services whose last check was slow.'),
      statusCount('down', 'Down', 'Services whose last check failed, after its re-checks.'),
      stat({
        title: 'Uptime',
        description: 'Share of the checks that were up or slow. Suspect checks do not count.',
        unit: 'percentunit',
        width: 6,
        queries: [lines(`SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check" WHERE ${TRUSTED}`)],
      })
        .decimals(3)
        .thresholds(uptimeSteps()),
      stat({
        title: 'Suspect checks',
        description:
          'Checks whose failure may be the fault of the prober. They do not count against services.',
        unit: 'short',
        width: 6,
        queries: [lines(`SELECT sum("suspect") AS "suspect" FROM "upbeat_check" WHERE ${CHECKS}`)],
      }).thresholds(noneSteps()),
      stacked({
        title: 'Statuses of all services',
        description: 'Number of services by status, in all categories.',
        unit: 'short',
        width: 12,
        from: PROMETHEUS,
        queries: [series('sum by (status) (upbeat_services)', '{{status}}')],
      })
        .overrideByName('up', [fixedColour(STATUS_COLOURS.up)])
        .overrideByName('slow', [fixedColour(STATUS_COLOURS.slow)])
        .overrideByName('down', [fixedColour(STATUS_COLOURS.down)])
        .overrideByName('unknown', [fixedColour(STATUS_COLOURS.unknown)]),
      stacked({
        title: 'Slow and down',
        description:
          'Number of services of the category that were slow or down at some time in each interval.',
        unit: 'short',
        width: 12,
        queries: [
          // The inner query fills nothing: with a fill, InfluxDB 1.6 groups the outer query by service.
          lines(`
            SELECT sum("slow") AS "slow", sum("down") AS "down"
            FROM (SELECT max("slow") AS "slow", max("down") AS "down" FROM "upbeat_check" WHERE ${TRUSTED}
              GROUP BY time($__interval), "service_id" fill(none))
            WHERE $timeFilter GROUP BY time($__interval) fill(none)`),
        ],
      })
        .drawStyle(GraphDrawStyle.Bars)
        // An interval shorter than that of the checks would contain only some services.
        .interval('5m')
        .overrideByName('slow', [fixedColour(STATUS_COLOURS.slow)])
        .overrideByName('down', [fixedColour(STATUS_COLOURS.down)]),
      latencyHeatMap(),
      ranking({
        title: 'Slowest',
        description: 'The ten services with the largest 95th percentile of latency.',
        column: 'p95',
        query: `SELECT top("p95", "service", "service_id", 10) AS "p95"
          FROM (SELECT percentile("latency_ms", 95) AS "p95" FROM "upbeat_check"
            WHERE ${TRUSTED} AND "timed" = 1 GROUP BY "service", "service_id")`,
        cells: colouredCells('ms', latencySteps()),
        worst: 'most',
      }),
      ranking({
        title: 'Worst uptime',
        description: 'The ten services with the smallest share of good or slow checks.',
        column: 'uptime',
        query: `SELECT bottom("uptime", "service", "service_id", 10) AS "uptime"
          FROM (SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check" WHERE ${TRUSTED} GROUP BY "service", "service_id")`,
        cells: [...colouredCells('percentunit', uptimeSteps()), { id: 'decimals', value: 3 }],
        worst: 'least',
      }),
      ranking({
        title: 'Flapping',
        description: 'The ten services whose status changed most often.',
        column: 'changes',
        query: `SELECT top("changes", "service", "service_id", 10) AS "changes"
          FROM (SELECT count("status") AS "changes" FROM "upbeat_transition" WHERE ${OF_CATEGORY} GROUP BY "service", "service_id")`,
        cells: colouredCells('short', countSteps(4, 10)),
        worst: 'most',
      }),
      table({
        title: 'Incidents',
        description: 'Updates of incidents, of our own checks and of vendors, newest first.',
        unit: 'none',
        width: 14,
        height: 10,
        queries: [
          rows(`SELECT "service", "service_id", "title", "status", "severity", "source" FROM "upbeat_incident"
            WHERE ${OF_CATEGORY} ORDER BY time DESC LIMIT 50`),
        ],
      })
        .overrideByName('service', [TO_SERVICE])
        .overrideByName('service_id', [HIDDEN]),
      table({
        title: 'Changes of status',
        description: 'The last fifty changes, newest first, with their reasons.',
        unit: 'none',
        width: 10,
        height: 10,
        queries: [
          rows(`SELECT "service", "service_id", "from", "to", "reason" FROM "upbeat_transition"
            WHERE ${OF_CATEGORY} ORDER BY time DESC LIMIT 50`),
        ],
      })
        .overrideByName('service', [TO_SERVICE])
        .overrideByName('service_id', [HIDDEN])
        .overrideByName('from', statusCells())
        .overrideByName('to', statusCells()),
    ],
  });
}

function statusCount(status: 'up' | 'slow' | 'down', title: string, description: string) {
  const query: Query = lines(`
    SELECT sum("is") AS "${status}"
    FROM (SELECT last("${status}") AS "is" FROM "upbeat_check" WHERE ${TRUSTED} GROUP BY "service_id")`);
  const steps = status === 'up' ? plainSteps(STATUS_COLOURS.up) : noneSteps(STATUS_COLOURS[status]);
  return stat({ title, description, unit: 'short', width: 4, queries: [query] })
    .timeFrom('15m')
    .thresholds(steps);
}

interface Ranking {
  readonly title: string;
  readonly description: string;
  readonly column: string;
  readonly query: string;
  readonly cells: { id: string; value: unknown }[];
  readonly worst: 'most' | 'least';
}

function ranking({ title, description, column, query, cells, worst }: Ranking) {
  return table({ title, description, unit: 'none', width: 8, height: 10, queries: [rows(query)] })
    .sortBy([new TableSortByFieldStateBuilder().displayName(column).desc(worst === 'most')])
    .overrideByName('Time', [HIDDEN])
    .overrideByName('service', [TO_SERVICE])
    .overrideByName('service_id', [HIDDEN])
    .overrideByName(column, cells);
}

/** Bounds of the buckets, milliseconds. The last one is the limit between up and slow (contract 3). */
const BOUNDS_MS = [50, 100, 200, 400, 800, 1_500, 3_000];

/** The heat map of latency. The server counts each bucket, so that the response does not grow with the fleet. */
function latencyHeatMap(): PanelBuilder {
  const classes = [...BOUNDS_MS, null].map((toMs, index) => ({ fromMs: BOUNDS_MS[index - 1] ?? null, toMs }));
  const queries = classes.map(({ fromMs, toMs }, index) => {
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
    .description('Number of checks by latency. Checks above the highest bound, three seconds, were slow.')
    .unit('short')
    .span(24)
    .height(8)
    .interval('1m')
    .datasource(refer(INFLUX))
    .targets(queries)
    .calculate(false)
    .rowsFrame(new RowsHeatmapOptionsBuilder().layout(HeatmapCellLayout.Unknown))
    .color(
      new HeatmapColorOptionsBuilder()
        .mode(HeatmapColorMode.Scheme)
        .scale(HeatmapColorScale.Exponential)
        .exponent(0.5)
        // Its lightness is uniform, so that it can be read without colours.
        .scheme('Viridis')
        .fill('dark-orange')
        .steps(64),
    )
    .cellGap(1)
    .showLegend();
}
