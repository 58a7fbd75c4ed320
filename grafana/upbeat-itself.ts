/** The dashboard of the program itself, from `/metrics`. */
import { type Dashboard, MappingType } from '@grafana/grafana-foundation-sdk/dashboard';
import { buildDashboard, DASHBOARD_UIDS, siteVariable } from './dashboard.ts';
import { type PanelProperties, stacked, stat, timeSeries } from './panels.ts';
import { PROMETHEUS, present, series } from './queries.ts';
import { COLOURS, noneSteps, plainSteps, steps } from './status-colours.ts';

type Facts = Omit<PanelProperties, 'from'>;
const lineChart = (properties: Facts) => timeSeries({ ...properties, from: PROMETHEUS }).min(0);
const number = (properties: Facts) => stat({ ...properties, from: PROMETHEUS });

/** Builds the dashboard. */
export function upbeatItself(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.program,
    title: 'Upbeat: the program itself',
    description:
      'Whether Upbeat checks in time, reaches its stores, reads vendors’ pages and responds quickly.',
    from: 'now-6h',
    variables: [siteVariable()],
    panels: [...atAGlance(), ...checks(), ...stores(), ...feeds(), ...alerts(), ...api(), ...process()],
  });
}

function atAGlance() {
  return [
    number({
      title: 'Connections',
      description:
        'The prober’s connection to the internet, and the external stores. While the prober is offline, no service goes down.',
      unit: 'none',
      width: 8,
      queries: [
        present('max(upbeat_prober_online)', 'Internet'),
        present('max by (store) (upbeat_store_connected)', '{{store}}'),
      ],
    })
      .mappings([
        {
          type: MappingType.ValueToText,
          options: {
            0: { text: 'Away', color: COLOURS.vermillion, index: 0 },
            1: { text: 'Works', color: COLOURS.green, index: 1 },
          },
        },
      ])
      .thresholds(steps([null, COLOURS.vermillion], [1, COLOURS.green])),
    number({
      title: 'Checked services',
      description: 'Services that the probe threads check, without those that send heartbeats.',
      unit: 'short',
      width: 4,
      queries: [present('sum(upbeat_services_probed)', 'services')],
    }).thresholds(plainSteps(COLOURS.blue)),
    number({
      title: 'Checks per second',
      description: 'Completed checks per second.',
      unit: 'ops',
      width: 4,
      queries: [present('sum(rate(upbeat_checks_total[$__rate_interval]))', 'checks')],
    })
      .thresholds(plainSteps(COLOURS.blue))
      .decimals(1),
    number({
      title: 'Start delay of checks',
      description: 'Delay of the worst thread, 99th percentile. An alert fires above five seconds.',
      unit: 's',
      width: 4,
      queries: [present('max(upbeat_check_start_delay_p99_seconds)', 'delay')],
    }).thresholds(steps([null, COLOURS.green], [1, COLOURS.yellow], [5, COLOURS.vermillion])),
    number({
      title: 'Samples dropped',
      description: 'Samples that were dropped since the start because the spool was full.',
      unit: 'short',
      width: 4,
      queries: [present('sum(upbeat_samples_lost_total)', 'samples')],
    }).thresholds(noneSteps()),
  ];
}

function checks() {
  return [
    lineChart({
      title: 'Checks per second',
      description: 'Completed checks, and suspect results.',
      unit: 'ops',
      width: 12,
      queries: [
        series('sum(rate(upbeat_checks_total[$__rate_interval]))', 'checks'),
        series('sum(rate(upbeat_suspect_results_total[$__rate_interval]))', 'suspect'),
      ],
    }),
    lineChart({
      title: 'Delays',
      description:
        'Start delay of checks, and delay of the event loops of the probe threads and the main thread.',
      unit: 's',
      width: 12,
      queries: [
        series('max(upbeat_check_start_delay_p99_seconds)', 'checks begin, p99'),
        series('max(upbeat_probe_loop_delay_seconds)', 'loop of the probe threads'),
        series('max(upbeat_nodejs_eventloop_lag_p99_seconds)', 'loop of the main thread, p99'),
      ],
    }),
    lineChart({
      title: 'Checks in flight',
      description: 'Checks in flight, and failures that wait for a control target.',
      unit: 'short',
      width: 12,
      queries: [
        series('sum(upbeat_open_checks)', 'under way'),
        series('sum(upbeat_held_results)', 'held back'),
      ],
    }),
    lineChart({
      title: 'Thread restarts',
      description: 'Restarts of probe threads. An alert fires at more than three in 15 minutes.',
      unit: 'short',
      width: 12,
      queries: [series('sum(increase(upbeat_probe_thread_restarts_total[$__rate_interval]))', 'threads')],
    }),
  ];
}

function stores() {
  return [
    lineChart({
      title: 'Samples per second',
      description: 'Samples that were taken per second.',
      unit: 'ops',
      width: 8,
      queries: [series('sum(rate(upbeat_samples_total[$__rate_interval]))', 'samples')],
    }),
    lineChart({
      title: 'Pending samples',
      description: 'Samples that are not yet in the store. They grow while InfluxDB is unavailable.',
      unit: 'short',
      width: 8,
      queries: [series('sum(upbeat_samples_pending)', 'samples')],
    }),
    lineChart({
      title: 'Spool on disk',
      description: 'Size of the spool for InfluxDB; without InfluxDB, of the sample store itself.',
      unit: 'bytes',
      width: 8,
      queries: [series('sum(upbeat_samples_file_bytes)', 'on disk')],
    }),
  ];
}

function feeds() {
  return [
    lineChart({
      title: 'Age of vendor statuses',
      description: 'Time since the last successful read of a status page: the ten oldest.',
      unit: 's',
      width: 12,
      queries: [series('topk(10, time() - (upbeat_feed_read_timestamp_seconds > 0))', '{{feed}}')],
    }),
    lineChart({
      title: 'Reads of vendors’ pages',
      description: 'Reads and failed reads per second, and the pages whose last read failed.',
      unit: 'short',
      width: 12,
      queries: [
        series('sum(rate(upbeat_feed_polls_total[$__rate_interval]))', 'reads per second'),
        series('sum(rate(upbeat_feed_polls_failed_total[$__rate_interval]))', 'failed per second'),
        series('sum(upbeat_feeds_failing)', 'failing pages'),
      ],
    }),
  ];
}

function alerts() {
  return [
    lineChart({
      title: 'Messages of alerts',
      description:
        'Messages that wait, those of them whose last attempt failed, and events that are not decided.',
      unit: 'short',
      width: 12,
      queries: [
        series('sum by (state) (upbeat_alert_messages{state=~"waiting|retrying"})', '{{state}}'),
        series('sum(upbeat_alert_events_backlog)', 'events'),
      ],
    }),
    lineChart({
      title: 'Alerts that wait',
      description: 'For how long the longest waiting message has been due. An alert fires above two minutes.',
      unit: 's',
      width: 12,
      queries: [series('max(upbeat_alert_overdue_seconds)', 'due for')],
    }),
  ];
}

function api() {
  return [
    lineChart({
      title: 'Requests per second by route',
      description: 'Completed requests.',
      unit: 'reqps',
      width: 8,
      queries: [series('sum by (route) (rate(upbeat_http_requests_total[$__rate_interval]))', '{{route}}')],
    }),
    lineChart({
      title: 'Requests per second by status',
      description: 'Requests by the status of the response. 429: over a limit; 5xx: a fault of the program.',
      unit: 'reqps',
      width: 8,
      queries: [series('sum by (status) (rate(upbeat_http_requests_total[$__rate_interval]))', '{{status}}')],
    }),
    lineChart({
      title: 'Response time, 95th percentile',
      description: 'From the arrival of a request to the end of its response.',
      unit: 's',
      width: 8,
      queries: [
        series(
          'histogram_quantile(0.95, sum by (le, route) (rate(upbeat_http_request_duration_seconds_bucket[$__rate_interval])))',
          '{{route}}',
        ),
      ],
    }),
  ];
}

function process() {
  return [
    lineChart({
      title: 'Memory',
      description:
        'Memory of the process, heap of the main thread, buffers, and largest heap of a probe thread.',
      unit: 'bytes',
      width: 8,
      queries: [
        series('sum(upbeat_process_resident_memory_bytes)', 'process'),
        series('sum(upbeat_nodejs_heap_size_used_bytes)', 'main heap'),
        series('sum(upbeat_nodejs_external_memory_bytes)', 'buffers'),
        series('max(upbeat_probe_heap_bytes)', 'largest probe heap'),
      ],
    }),
    stacked({
      title: 'CPU usage',
      description: 'Number of CPUs in use by the program.',
      unit: 'short',
      width: 8,
      from: PROMETHEUS,
      queries: [
        series('sum(rate(upbeat_process_cpu_user_seconds_total[$__rate_interval]))', 'user'),
        series('sum(rate(upbeat_process_cpu_system_seconds_total[$__rate_interval]))', 'system'),
      ],
    }).min(0),
    lineChart({
      title: 'Event streams',
      description: 'Open event streams, and open files and sockets of the program.',
      unit: 'short',
      width: 8,
      queries: [
        series('sum(upbeat_event_streams)', 'streams'),
        series('sum(upbeat_process_open_fds)', 'files and sockets'),
      ],
    }),
  ];
}
