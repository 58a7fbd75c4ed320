/** The dashboard of heartbeats and dependencies. */
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  buildDashboard,
  CELL_SLUG,
  categoryVariable,
  DASHBOARD_UIDS,
  incidentAnnotations,
  ROW_SERVICE_ID,
  reporterVariable,
  serviceLink,
  servicePage,
  siteVariable,
} from './dashboard.ts';
import {
  colouredCells,
  fixedColour,
  HIDDEN,
  linkedCells,
  stacked,
  stat,
  statusCells,
  statusTimeline,
  table,
  timeSeries,
} from './panels.ts';
import { lines, rows } from './queries.ts';
import {
  COLOURS,
  latencySteps,
  noneSteps,
  plainSteps,
  STATUS_COLOURS,
  STATUS_NUMBERS,
  statusMappings,
  uptimeSteps,
} from './status-colours.ts';

/** The heartbeats of the chosen services in the chosen time. */
const HEARTBEATS = '$timeFilter AND "category" =~ /^$category$/ AND "service_id" =~ /^$service$/';
/** Dependencies carry no category. */
const DEPENDENCIES = '$timeFilter AND "service_id" =~ /^$service$/';
const TO_SERVICE = linkedCells(serviceLink(ROW_SERVICE_ID), servicePage(CELL_SLUG));
const TIME_SINCE = { id: 'unit', value: 'dateTimeFromNow' };

/** Builds the dashboard. */
export function heartbeats(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.heartbeats,
    title: 'Upbeat: heartbeats and dependencies',
    description:
      'Services that send heartbeats: what they report, how regularly, and the state of their dependencies, if their owners made them public.',
    from: 'now-6h',
    variables: [categoryVariable('upbeat_heartbeat'), reporterVariable(), siteVariable()],
    annotations: [incidentAnnotations(HEARTBEATS)],
    panels: [...now(), ...services(), ...dependencies()],
  });
}

function now() {
  const lastOfEach = `(SELECT last("status") AS "status", "checks_failing" AS "failing"
    FROM "upbeat_heartbeat" WHERE ${HEARTBEATS} GROUP BY "service_id")`;
  return [
    stat({
      title: 'Services with heartbeats',
      description: 'Services that sent a heartbeat in the selected time.',
      unit: 'short',
      width: 6,
      queries: [lines(`SELECT count("status") AS "services" FROM ${lastOfEach}`)],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Heartbeats',
      description: 'Heartbeats that arrived in the selected time.',
      unit: 'short',
      width: 6,
      queries: [lines(`SELECT count("status") AS "heartbeats" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}`)],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Failing dependencies',
      description: 'Failing dependencies in the last heartbeat of each service.',
      unit: 'short',
      width: 6,
      queries: [lines(`SELECT sum("failing") AS "failing" FROM ${lastOfEach}`)],
    }).thresholds(noneSteps()),
    stat({
      title: 'Worst reported status',
      description: 'The worst status in the last heartbeats.',
      unit: 'none',
      width: 6,
      queries: [lines(`SELECT max("status") AS "status" FROM ${lastOfEach}`)],
    }).mappings(statusMappings()),
  ];
}

function services() {
  return [
    table({
      title: 'Last heartbeats',
      description: 'Time and content of the last heartbeat of each service.',
      unit: 'none',
      width: 14,
      height: 9,
      queries: [
        rows(`SELECT last("status") AS "status", "checks", "checks_failing" AS "failing", "response_ms" AS "response"
          FROM "upbeat_heartbeat" WHERE ${HEARTBEATS} GROUP BY "service", "service_id"`),
      ],
    })
      .overrideByName('Time', [TIME_SINCE])
      .overrideByName('service', [TO_SERVICE])
      .overrideByName('service_id', [HIDDEN])
      .overrideByName('status', statusCells())
      .overrideByName('failing', colouredCells('short', noneSteps()))
      .overrideByName('response', colouredCells('ms', latencySteps())),
    timeSeries({
      title: 'Heartbeats',
      description: 'Heartbeats that arrived in each interval.',
      unit: 'short',
      width: 10,
      height: 9,
      queries: [
        lines(
          `SELECT count("status") AS "heartbeats" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(0)`,
          '$tag_service',
        ),
      ],
    }).min(0),
    statusTimeline({
      title: 'Reported status',
      description: 'The worst reported status of each service in each interval.',
      unit: 'none',
      width: 24,
      height: 9,
      queries: [
        lines(
          `SELECT max("status") AS "status" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(none)`,
          '$tag_service',
        ),
      ],
    }).perPage(20),
    timeSeries({
      title: 'Reported latency',
      description: 'Average of the largest latency among the dependencies of each service.',
      unit: 'ms',
      width: 12,
      queries: [
        lines(
          `SELECT mean("response_ms") AS "response" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(none)`,
          '$tag_service',
        ),
      ],
    }).min(0),
    stacked({
      title: 'Heartbeats by status',
      description: 'Number of heartbeats by reported status in each interval.',
      unit: 'short',
      width: 12,
      queries: (['up', 'slow', 'down'] as const).map((status) =>
        lines(
          `SELECT count("status") AS "${status}" FROM "upbeat_heartbeat"
           WHERE ${HEARTBEATS} AND "status" = ${STATUS_NUMBERS[status]}
           GROUP BY time($__interval) fill(0)`,
        ),
      ),
    })
      .overrideByName('up', [fixedColour(STATUS_COLOURS.up)])
      .overrideByName('slow', [fixedColour(STATUS_COLOURS.slow)])
      .overrideByName('down', [fixedColour(STATUS_COLOURS.down)]),
  ];
}

function dependencies() {
  return [
    table({
      title: 'Dependencies by failures',
      description: 'Number of services that report each dependency, and for how many it fails now.',
      unit: 'none',
      width: 8,
      height: 9,
      queries: [
        rows(`SELECT sum("failing") AS "failing", count("failing") AS "services"
          FROM (SELECT 1 - last("ok") AS "failing" FROM "upbeat_dependency"
            WHERE ${DEPENDENCIES} GROUP BY "service_id", "dependency")
          GROUP BY "dependency"`),
      ],
    })
      .overrideByName('Time', [HIDDEN])
      .overrideByName('failing', colouredCells('short', noneSteps())),
    table({
      title: 'Dependencies of each service',
      description: 'Share of reports without a failure, and 95th percentile of the reported latency.',
      unit: 'none',
      width: 16,
      height: 9,
      queries: [
        rows(`SELECT mean("ok") AS "good", percentile("latency_ms", 95) AS "p95", last("latency_ms") AS "last"
          FROM "upbeat_dependency" WHERE ${DEPENDENCIES} GROUP BY "service", "service_id", "dependency"`),
      ],
    })
      .overrideByName('Time', [HIDDEN])
      .overrideByName('service', [TO_SERVICE])
      .overrideByName('service_id', [HIDDEN])
      .overrideByName('good', colouredCells('percentunit', uptimeSteps()))
      .overrideByName('p95', colouredCells('ms', latencySteps()))
      .overrideByName('last', [{ id: 'unit', value: 'ms' }]),
    timeSeries({
      title: 'Latency of dependencies',
      description: 'Average reported latency of each dependency.',
      unit: 'ms',
      width: 12,
      queries: [
        lines(
          `SELECT mean("latency_ms") AS "latency" FROM "upbeat_dependency" WHERE ${DEPENDENCIES}
           GROUP BY time($__interval), "service", "service_id", "dependency" fill(none)`,
          '$tag_service: $tag_dependency',
        ),
      ],
    }).min(0),
    timeSeries({
      title: 'Availability of dependencies',
      description: 'Share of the heartbeats without a failure of the dependency.',
      unit: 'percentunit',
      width: 12,
      queries: [
        lines(
          `SELECT mean("ok") AS "good" FROM "upbeat_dependency" WHERE ${DEPENDENCIES}
           GROUP BY time($__interval), "dependency" fill(none)`,
          '$tag_dependency',
        ),
      ],
    })
      .min(0)
      .max(1),
  ];
}
