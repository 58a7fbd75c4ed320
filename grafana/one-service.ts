/** One service: how quick, how steady, what failed, what was said. */
import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { AnnotationQuery, Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  buildDashboard,
  categoryVariable,
  DASHBOARD_UIDS,
  incidentAnnotations,
  servicePage,
  serviceVariable,
  siteVariable,
  transitionAnnotations,
} from './dashboard.ts';
import { fixedColour, stacked, stat, statusCells, statusTimeline, table, timeSeries } from './panels.ts';
import { lines, OF_SERVICE, rows, TRUSTED_OF_SERVICE } from './queries.ts';
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

/** Makes it. */
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
    variables: [categoryVariable('upbeat_check'), serviceVariable('upbeat_check'), siteVariable()],
    annotations,
    panels: [...atAGlance(), ...overTime(), ...inWords()],
  });
}

function atAGlance() {
  return [
    stat({
      title: 'Last check',
      description: 'What the last check found, wherever the fault was not ours.',
      unit: 'none',
      width: 5,
      questions: [lines(`SELECT last("verdict") AS "verdict" FROM ${VERDICTS}`)],
    })
      .mappings(statusMappings())
      .links([servicePage(`\${service:text}`)]),
    stat({
      title: 'Uptime',
      description:
        'Share of the checks that were good or slow. Checks that failed by our own fault do not count.',
      unit: 'percentunit',
      width: 5,
      questions: [
        lines(`SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check" WHERE ${TRUSTED_OF_SERVICE}`),
      ],
    })
      .decimals(3)
      .thresholds(uptimeSteps()),
    stat({
      title: 'Latency, 95th percentile',
      description: 'Nineteen of twenty checks were at least this quick.',
      unit: 'ms',
      width: 5,
      questions: [
        lines(`SELECT percentile("latency_ms", 95) AS "p95" FROM "upbeat_check" WHERE ${MEASURED}`),
      ],
    }).thresholds(latencySteps()),
    stat({
      title: 'Checks',
      description: 'Checks that were made, those of our own fault included.',
      unit: 'short',
      width: 4,
      questions: [lines(`SELECT count("up") AS "checks" FROM "upbeat_check" WHERE ${OF_SERVICE}`)],
    }).thresholds(plainSteps(COLOURS.blue)),
    stat({
      title: 'Certificate ends in',
      description:
        'Days until the certificate that the server showed last runs out. Nothing where there is no TLS.',
      unit: 'd',
      width: 5,
      questions: [lines(`SELECT last("certificate_days") AS "days" FROM "upbeat_check" WHERE ${OF_SERVICE}`)],
    })
      .thresholds(certificateSteps())
      .noValue('no certificate'),
  ];
}

function overTime() {
  return [
    statusTimeline({
      title: 'Status',
      description:
        'The worst that a check found in each interval. Marks are changes of status and incidents.',
      unit: 'none',
      width: 24,
      height: 5,
      questions: [
        lines(
          `SELECT max("verdict") AS "verdict" FROM ${VERDICTS}
           WHERE $timeFilter GROUP BY time($__interval) fill(none)`,
          'status',
        ),
      ],
    }),
    timeSeries({
      title: 'Latency',
      description:
        'Half of the checks, nineteen of twenty, and all but one in a hundred were at least this quick.',
      unit: 'ms',
      width: 12,
      questions: [
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
      description:
        'Where the time goes, on average: finding the address, connecting, agreeing on encryption, waiting for the answer.',
      unit: 'ms',
      width: 12,
      questions: [
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
      description: 'Share of good or slow checks in each interval.',
      unit: 'percentunit',
      width: 12,
      questions: [
        lines(`SELECT 1 - mean("down") AS "uptime" FROM "upbeat_check"
          WHERE ${TRUSTED_OF_SERVICE} GROUP BY time($__interval) fill(none)`),
      ],
    })
      .min(0)
      .max(1)
      .fillOpacity(40)
      .overrideByName('uptime', [fixedColour(COLOURS.green)]),
    timeSeries({
      title: 'Days of the certificate',
      description: 'Days until the certificate runs out. A renewal is a step upwards.',
      unit: 'd',
      width: 12,
      questions: [
        lines(`SELECT last("certificate_days") AS "days" FROM "upbeat_check"
          WHERE ${OF_SERVICE} GROUP BY time($__interval) fill(none)`),
      ],
    }).overrideByName('days', [fixedColour(COLOURS.sky)]),
  ];
}

function inWords() {
  return [
    table({
      title: 'Failures',
      description:
        'The last fifty failed checks: class of the failure, status of the answer (0: none), latency.',
      unit: 'none',
      width: 8,
      questions: [
        rows(`SELECT "failure", "status_code", "latency_ms" FROM "upbeat_check"
          WHERE ${OF_SERVICE} AND "down" = 1 ORDER BY time DESC LIMIT 50`),
      ],
    }).overrideByName('latency_ms', [{ id: 'unit', value: 'ms' }]),
    table({
      title: 'Changes of status',
      description: 'The last fifty changes, with their reasons.',
      unit: 'none',
      width: 8,
      questions: [
        rows(`SELECT "from", "to", "reason" FROM "upbeat_transition"
          WHERE ${OF_SERVICE} ORDER BY time DESC LIMIT 50`),
      ],
    })
      .overrideByName('from', statusCells())
      .overrideByName('to', statusCells()),
    table({
      title: 'Incidents',
      description:
        'What was said of the service, newest first: by our own checks, and by the vendor’s status page.',
      unit: 'none',
      width: 8,
      questions: [
        rows(`SELECT "title", "status", "severity", "source" FROM "upbeat_incident"
          WHERE ${OF_SERVICE} ORDER BY time DESC LIMIT 50`),
      ],
    }),
  ];
}
