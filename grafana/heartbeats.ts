/** Owners' services that report by themselves, and what they depend on. */
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

/** Makes it. */
export function heartbeats(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.heartbeats,
    title: 'Upbeat: heartbeats and dependencies',
    description:
      'Services that report by themselves: what they say, how regularly, and how their dependencies do. Dependencies are shown of services whose owners made them public.',
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
      title: 'Services that report',
      description: 'Services of which a heartbeat arrived in the chosen time.',
      unit: 'short',
      width: 6,
      questions: [lines(`SELECT count("status") AS "services" FROM ${lastOfEach}`)],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Heartbeats',
      description: 'Heartbeats that arrived in the chosen time.',
      unit: 'short',
      width: 6,
      questions: [
        lines(`SELECT count("status") AS "heartbeats" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}`),
      ],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Failing dependencies',
      description: 'Dependencies that the newest heartbeat of each service calls failing.',
      unit: 'short',
      width: 6,
      questions: [lines(`SELECT sum("failing") AS "failing" FROM ${lastOfEach}`)],
    }).thresholds(noneSteps()),
    stat({
      title: 'Worst word',
      description: 'The worst that a service said of itself in its newest heartbeat.',
      unit: 'none',
      width: 6,
      questions: [lines(`SELECT max("status") AS "status" FROM ${lastOfEach}`)],
    }).mappings(statusMappings()),
  ];
}

function services() {
  return [
    table({
      title: 'Newest heartbeats',
      description: 'When each service reported last, and what it said.',
      unit: 'none',
      width: 14,
      height: 9,
      questions: [
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
      description: 'Heartbeats that arrived in each interval. A gap is silence.',
      unit: 'short',
      width: 10,
      height: 9,
      questions: [
        lines(
          `SELECT count("status") AS "heartbeats" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(0)`,
          '$tag_service',
        ),
      ],
    }).min(0),
    statusTimeline({
      title: 'What services say of themselves',
      description: 'The worst word of each service in each interval.',
      unit: 'none',
      width: 24,
      height: 9,
      questions: [
        lines(
          `SELECT max("status") AS "status" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(none)`,
          '$tag_service',
        ),
      ],
    }).perPage(20),
    timeSeries({
      title: 'Reported latency',
      description: 'The largest latency that each service reported of its dependencies, on average.',
      unit: 'ms',
      width: 12,
      questions: [
        lines(
          `SELECT mean("response_ms") AS "response" FROM "upbeat_heartbeat" WHERE ${HEARTBEATS}
           GROUP BY time($__interval), "service", "service_id" fill(none)`,
          '$tag_service',
        ),
      ],
    }).min(0),
    stacked({
      title: 'Words over time',
      description: 'How many heartbeats of each interval said: well, slow, down.',
      unit: 'short',
      width: 12,
      questions: (['up', 'slow', 'down'] as const).map((status) =>
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
      title: 'What fails for whom',
      description:
        'For each dependency: how many services report it, and for how many it fails at the moment.',
      unit: 'none',
      width: 8,
      height: 9,
      questions: [
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
      description: 'Share of the good reports, and the 95th percentile of the reported latency.',
      unit: 'none',
      width: 16,
      height: 9,
      questions: [
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
      description: 'What services reported of each dependency, on average.',
      unit: 'ms',
      width: 12,
      questions: [
        lines(
          `SELECT mean("latency_ms") AS "latency" FROM "upbeat_dependency" WHERE ${DEPENDENCIES}
           GROUP BY time($__interval), "service", "service_id", "dependency" fill(none)`,
          '$tag_service: $tag_dependency',
        ),
      ],
    }).min(0),
    timeSeries({
      title: 'Good reports of dependencies',
      description: 'Share of the heartbeats that called each dependency well.',
      unit: 'percentunit',
      width: 12,
      questions: [
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
