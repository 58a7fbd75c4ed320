/** The dashboard of one service. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery, Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  buildDashboard,
  categoryVariable,
  DASHBOARD_UIDS,
  incidentAnnotations,
  regionVariable,
  servicePage,
  serviceVariable,
  siteVariable,
  transitionAnnotations,
} from './dashboard.ts';
import { fixedColour, stacked, stat, statusCells, statusTimeline, table, timeSeries } from './panels.ts';
import { CHECKS_OF_SERVICE, lines, OF_SERVICE, rows, TRUSTED_OF_SERVICE } from './queries.ts';
import {
  COLOURS,
  certificateSteps,
  latencySteps,
  plainSteps,
  STATUS_NUMBERS,
  statusMappings,
  uptimeSteps,
} from './status-colours.ts';

const MEASURED = `${TRUSTED_OF_SERVICE} AND "timed" = 1`;
/** The verdict of each check as the number of its status. */
const VERDICTS = `(SELECT "slow" * ${STATUS_NUMBERS.slow} + "down" * ${STATUS_NUMBERS.down} AS "verdict"
  FROM "upbeat_check" WHERE ${TRUSTED_OF_SERVICE})`;

/** Builds the dashboard. */
export function oneService(): Dashboard {
  const annotations: Builder<AnnotationQuery>[] = [
    incidentAnnotations(OF_SERVICE),
    transitionAnnotations(OF_SERVICE),
  ];
  return buildDashboard({
    uid: DASHBOARD_UIDS.service,
    title: 'Upbeat: one service',
    description: 'One service: its status, latency, phases of its requests, uptime, failures and incidents.',
    from: 'now-24h',
    variables: [
      categoryVariable('upbeat_check'),
      serviceVariable('upbeat_check'),
      regionVariable(),
      siteVariable(),
    ],
    annotations,
    panels: [...atAGlance(), ...overTime(), ...inWords()],
  });
}

function atAGlance() {
  return [
    stat({
      title: 'Last check',
      description: 'Status of the last check that was not suspect.',
      unit: 'none',
      width: 5,
      queries: [lines(`SELECT last("verdict") AS "verdict" FROM ${VERDICTS}`)],
    })
      .mappings(statusMappings())
      .links([servicePage(`\${service:text}`)]),
    stat({
      title: 'Uptime',
      description: 'Share of the checks that were up or slow. Suspect checks do not count.',
      unit: 'percentunit',
      width: 5,
      queries: [lines(`SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check" WHERE ${TRUSTED_OF_SERVICE}`)],
    })
      .decimals(3)
      .thresholds(uptimeSteps()),
    stat({
      title: 'Latency, 95th percentile',
      description: 'Ninety-five percent of the checks were at least this fast.',
      unit: 'ms',
      width: 5,
      queries: [lines(`SELECT percentile("latency_ms", 95) AS "p95" FROM "upbeat_check" WHERE ${MEASURED}`)],
    }).thresholds(latencySteps()),
    stat({
      title: 'Checks',
      description: 'Number of checks, including suspect ones.',
      unit: 'short',
      width: 4,
      queries: [lines(`SELECT count("up") AS "checks" FROM "upbeat_check" WHERE ${CHECKS_OF_SERVICE}`)],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Certificate ends in',
      description: 'Days until the certificate of the last check expires.',
      unit: 'd',
      width: 5,
      queries: [
        lines(`SELECT last("certificate_days") AS "days" FROM "upbeat_check" WHERE ${CHECKS_OF_SERVICE}`),
      ],
    })
      .thresholds(certificateSteps())
      .noValue('no certificate'),
  ];
}

function overTime() {
  return [
    statusTimeline({
      title: 'Status',
      description: 'The worst status in each interval. Annotations are changes of status and incidents.',
      unit: 'none',
      width: 24,
      height: 5,
      queries: [
        lines(
          `SELECT max("verdict") AS "verdict" FROM ${VERDICTS}
           WHERE $timeFilter GROUP BY time($__interval) fill(none)`,
          'status',
        ),
      ],
    }),
    timeSeries({
      title: 'Latency',
      description: 'Median, 95th and 99th percentile.',
      unit: 'ms',
      width: 12,
      queries: [
        lines(`
          SELECT percentile("latency_ms", 50) AS "p50", percentile("latency_ms", 95) AS "p95",
            percentile("latency_ms", 99) AS "p99"
          FROM "upbeat_check" WHERE ${MEASURED} GROUP BY time($__interval) fill(none)`),
      ],
    })
      .min(0)
      .overrideByName('p50', [fixedColour(COLOURS.blue)])
      .overrideByName('p95', [fixedColour(COLOURS.orange)])
      .overrideByName('p99', [fixedColour(COLOURS.purple)]),
    stacked({
      title: 'Phases of a request',
      description: 'Average time of each phase: name resolution, connect, TLS and first byte.',
      unit: 'ms',
      width: 12,
      queries: [
        lines(`
          SELECT mean("dns_ms") AS "name", mean("connect_ms") AS "connect", mean("tls_ms") AS "TLS",
            mean("first_byte_ms") AS "answer"
          FROM "upbeat_check" WHERE ${TRUSTED_OF_SERVICE} GROUP BY time($__interval) fill(none)`),
      ],
    })
      .overrideByName('name', [fixedColour(COLOURS.yellow)])
      .overrideByName('connect', [fixedColour(COLOURS.sky)])
      .overrideByName('TLS', [fixedColour(COLOURS.purple)])
      .overrideByName('answer', [fixedColour(COLOURS.blue)]),
    timeSeries({
      title: 'Uptime',
      description: 'Share of the checks that were up or slow in each interval.',
      unit: 'percentunit',
      width: 12,
      queries: [
        lines(`SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check"
          WHERE ${TRUSTED_OF_SERVICE} GROUP BY time($__interval) fill(none)`),
      ],
    })
      .min(0)
      .max(1)
      .fillOpacity(40)
      .overrideByName('uptime', [fixedColour(COLOURS.green)]),
    timeSeries({
      title: 'Certificate validity',
      description: 'Days until the certificate expires. A renewal is a step upwards.',
      unit: 'd',
      width: 12,
      queries: [
        lines(`SELECT last("certificate_days") AS "days" FROM "upbeat_check"
          WHERE ${CHECKS_OF_SERVICE} GROUP BY time($__interval) fill(none)`),
      ],
    }).overrideByName('days', [fixedColour(COLOURS.sky)]),
  ];
}

function inWords() {
  return [
    table({
      title: 'Failures',
      description: 'The last fifty failed checks: failure class, status code (0: no response) and latency.',
      unit: 'none',
      width: 8,
      queries: [
        rows(`SELECT "failure", "status_code", "latency_ms" FROM "upbeat_check"
          WHERE ${CHECKS_OF_SERVICE} AND "down" = 1 ORDER BY time DESC LIMIT 50`),
      ],
    }).overrideByName('latency_ms', [{ id: 'unit', value: 'ms' }]),
    table({
      title: 'Changes of status',
      description: 'The last fifty changes, with their reasons.',
      unit: 'none',
      width: 8,
      queries: [
        rows(`SELECT "from", "to", "reason" FROM "upbeat_transition"
          WHERE ${OF_SERVICE} ORDER BY time DESC LIMIT 50`),
      ],
    })
      .overrideByName('from', statusCells())
      .overrideByName('to', statusCells()),
    table({
      title: 'Incidents',
      description: 'Updates of incidents, of our own checks and of the vendor, newest first.',
      unit: 'none',
      width: 8,
      queries: [
        rows(`SELECT "title", "status", "severity", "source" FROM "upbeat_incident"
          WHERE ${OF_SERVICE} ORDER BY time DESC LIMIT 50`),
      ],
    }),
  ];
}
