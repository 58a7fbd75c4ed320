/** The dashboard of services from the series of `/metrics?services=1`, for installations without InfluxDB. */
import { TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { Dashboard } from '@grafana/grafana-foundation-sdk/dashboard';
import {
  buildDashboard,
  CELL_SLUG,
  DASHBOARD_UIDS,
  labelVariable,
  servicePage,
  siteVariable,
} from './dashboard.ts';
import {
  colouredCells,
  HIDDEN,
  linkedCells,
  stacked,
  stat,
  statusTimeline,
  table,
  timeSeries,
} from './panels.ts';
import { PROMETHEUS, present, presentRows, series } from './queries.ts';
import {
  COLOURS,
  certificateSteps,
  noneSteps,
  plainSteps,
  responseSteps,
  uptimeSteps,
} from './status-colours.ts';

const CHOSEN = '{category=~"$category", service=~"$service"}';
/** Every process has the series of all services, so they are joined by service. */
const UP = `max by (category, service) (upbeat_service_up${CHOSEN})`;
const RESPONSE = `max by (service) (upbeat_service_response_seconds${CHOSEN})`;
const EXPIRY = `min by (service) (upbeat_service_certificate_expiry_seconds${CHOSEN})`;
const UPTIME = `max by (service) (avg_over_time(upbeat_service_up${CHOSEN}[$__range]))`;

/** Builds the dashboard. */
export function services(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.services,
    title: 'Upbeat: services, by Prometheus alone',
    description:
      'Statuses, uptime, response times and certificates of services, from /metrics?services=1. Needs no InfluxDB.',
    from: 'now-6h',
    sources: [PROMETHEUS],
    variables: [
      labelVariable('upbeat_service_up', 'category')
        .label('Category')
        .description('Only services of this category.'),
      labelVariable('upbeat_service_up', 'service')
        .label('Service')
        .description('Only these services.')
        .multi(true),
      siteVariable(),
    ],
    panels: [...atAGlance(), ...overTime(), ...rankings()],
  });
}

function atAGlance() {
  const panel = { unit: 'short', width: 4, from: PROMETHEUS };
  return [
    stat({
      ...panel,
      title: 'Operational or slow',
      description: 'Services that the newest check or heartbeat found up or slow.',
      queries: [present(`sum(${UP})`, 'up')],
    }).thresholds(plainSteps(COLOURS.green)),
    stat({
      ...panel,
      title: 'Down',
      description: 'Services that are down, after the confirmation of the failure.',
      queries: [present(`sum(1 - ${UP})`, 'down')],
    }).thresholds(noneSteps()),
    stat({
      ...panel,
      title: 'Uptime',
      description:
        'Share of the scrapes at which a service was up or slow, over all services. The API has it by checks.',
      unit: 'percentunit',
      queries: [present(`avg(${UPTIME})`, 'uptime')],
    })
      .decimals(3)
      .thresholds(uptimeSteps()),
    stat({
      ...panel,
      title: 'Response time, 95th percentile',
      description: 'Ninety-five percent of the services answered their newest check at least this fast.',
      unit: 's',
      queries: [present(`quantile(0.95, ${RESPONSE})`, 'p95')],
    }).thresholds(responseSteps()),
    stat({
      ...panel,
      title: 'Certificates that end soon',
      description: 'Services whose certificate ends within 14 days.',
      queries: [present(`count(${EXPIRY} - time() < 14 * 86400) or vector(0)`, 'certificates')],
    }).thresholds(noneSteps(COLOURS.orange)),
    stat({
      ...panel,
      title: 'Services without series',
      description:
        'Services beyond the first 5,000, which this dashboard does not show. Choose by category= or q=.',
      queries: [present('max(upbeat_services_without_series)', 'services')],
    }).thresholds(noneSteps(COLOURS.orange)),
  ];
}

function overTime() {
  return [
    statusTimeline({
      title: 'Services that were down',
      description: 'One line for each service that was down at some time of the range.',
      unit: 'none',
      width: 24,
      height: 10,
      from: PROMETHEUS,
      queries: [
        series(
          // As docs/influxdb.md has it: 0 is up, 2 is down.
          `2 - 2 * (max by (service) (upbeat_service_up${CHOSEN})
            and on (service) (min by (service) (min_over_time(upbeat_service_up${CHOSEN}[$__range])) == 0))`,
          '{{service}}',
        ),
      ],
    }),
    timeSeries({
      title: 'Response times',
      description: 'Median, 95th and 99th percentile over services of the newest response time of each.',
      unit: 's',
      width: 12,
      from: PROMETHEUS,
      queries: [0.5, 0.95, 0.99].map((share) => series(`quantile(${share}, ${RESPONSE})`, `p${share * 100}`)),
    }).min(0),
    stacked({
      title: 'Down by category',
      description: 'Number of services that were down.',
      unit: 'short',
      width: 12,
      from: PROMETHEUS,
      queries: [series(`sum by (category) (1 - ${UP})`, '{{category}}')],
    }),
    timeSeries({
      title: 'Response times of the slowest services',
      description: 'The ten services that were slowest at each time.',
      unit: 's',
      width: 24,
      from: PROMETHEUS,
      queries: [series(`topk(10, ${RESPONSE})`, '{{service}}')],
    }).min(0),
  ];
}

function rankings() {
  return [
    ranking({
      title: 'Worst uptime',
      description: 'The ten services with the smallest share of scrapes at which they were up or slow.',
      query: `bottomk(10, ${UPTIME})`,
      name: 'uptime',
      cells: [...colouredCells('percentunit', uptimeSteps()), { id: 'decimals', value: 3 }],
      isWorstMost: false,
    }),
    ranking({
      title: 'Slowest',
      description: 'The ten services with the largest average of their response times.',
      query: `topk(10, max by (service) (avg_over_time(upbeat_service_response_seconds${CHOSEN}[$__range])))`,
      name: 'average',
      cells: colouredCells('s', responseSteps()),
      isWorstMost: true,
    }),
    ranking({
      title: 'Certificates',
      description: 'Days until the certificate ends: the ten services whose certificates end first.',
      query: `bottomk(10, (${EXPIRY} - time()) / 86400)`,
      name: 'days',
      cells: [...colouredCells('d', certificateSteps()), { id: 'decimals', value: 1 }],
      isWorstMost: false,
    }),
  ];
}

interface Ranking {
  readonly title: string;
  readonly description: string;
  readonly query: string;
  /** Title of the column. */
  readonly name: string;
  readonly cells: { id: string; value: unknown }[];
  readonly isWorstMost: boolean;
}

function ranking({ title, description, query, name, cells, isWorstMost }: Ranking) {
  return table({
    title,
    description,
    unit: 'none',
    width: 8,
    height: 10,
    from: PROMETHEUS,
    queries: [presentRows(query)],
  })
    .sortBy([new TableSortByFieldStateBuilder().displayName('Value').desc(isWorstMost)])
    .overrideByName('Time', [HIDDEN])
    .overrideByName('service', [linkedCells(servicePage(CELL_SLUG))])
    .overrideByName('Value', [...cells, { id: 'displayName', value: name }]);
}
