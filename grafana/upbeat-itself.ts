/** Upbeat itself: does it keep its own promises? Its figures come from `/metrics`. */
import { type Dashboard, MappingType } from '@grafana/grafana-foundation-sdk/dashboard';
import { buildDashboard, DASHBOARD_UIDS, siteVariable } from './dashboard.ts';
import { type PanelFacts, stacked, stat, timeSeries } from './panels.ts';
import { PROMETHEUS, present, series } from './queries.ts';
import { COLOURS, noneSteps, plainSteps, steps } from './status-colours.ts';

type Facts = Omit<PanelFacts, 'from'>;
const lineChart = (facts: Facts) => timeSeries({ ...facts, from: PROMETHEUS }).min(0);
const number = (facts: Facts) => stat({ ...facts, from: PROMETHEUS });

/** Makes it. */
export function upbeatItself(): Dashboard {
  return buildDashboard({
    uid: DASHBOARD_UIDS.program,
    title: 'Upbeat: the program itself',
    description:
      'Whether Upbeat checks in time, reaches its stores, reads the vendors’ pages and answers quickly.',
    from: 'now-6h',
    variables: [siteVariable()],
    panels: [...atAGlance(), ...checks(), ...stores(), ...feeds(), ...api(), ...process()],
  });
}

function atAGlance() {
  return [
    number({
      title: 'Connections',
      description:
        'Our own connection, and the stores outside of the program: InfluxDB and Redis where they are used. While our own connection is away, no service is called down.',
      unit: 'none',
      width: 8,
      questions: [
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
      title: 'Services that are checked',
      description:
        'Services that the probe threads check. Those that report by themselves are not among them.',
      unit: 'short',
      width: 4,
      questions: [present('sum(upbeat_services_probed)', 'services')],
    }).thresholds(plainSteps(COLOURS.blue)),
    number({
      title: 'Checks a second',
      description: 'Checks that ended, over the last minutes.',
      unit: 'ops',
      width: 4,
      questions: [present('sum(rate(upbeat_checks_total[$__rate_interval]))', 'checks')],
    })
      .thresholds(plainSteps(COLOURS.blue))
      .decimals(1),
    number({
      title: 'Checks begin late by',
      description:
        'How late checks began, 99th percentile of the worst thread. Over five seconds an alert goes off.',
      unit: 's',
      width: 4,
      questions: [present('max(upbeat_check_start_delay_p99_seconds)', 'delay')],
    }).thresholds(steps([null, COLOURS.green], [1, COLOURS.yellow], [5, COLOURS.vermillion])),
    number({
      title: 'Samples dropped',
      description: 'Samples that the full spool had to drop since the start.',
      unit: 'short',
      width: 4,
      questions: [present('sum(upbeat_samples_lost_total)', 'samples')],
    }).thresholds(noneSteps()),
  ];
}

function checks() {
  return [
    lineChart({
      title: 'Checks a second',
      description: 'Checks that ended, and results whose failure may be our own.',
      unit: 'ops',
      width: 12,
      questions: [
        series('sum(rate(upbeat_checks_total[$__rate_interval]))', 'checks'),
        series('sum(rate(upbeat_suspect_results_total[$__rate_interval]))', 'suspect'),
      ],
    }),
    lineChart({
      title: 'Delays',
      description:
        'How late checks begin, and how late the event loops of the probe threads and the main thread are.',
      unit: 's',
      width: 12,
      questions: [
        series('max(upbeat_check_start_delay_p99_seconds)', 'checks begin, p99'),
        series('max(upbeat_probe_loop_delay_seconds)', 'loop of the probe threads'),
        series('max(upbeat_nodejs_eventloop_lag_p99_seconds)', 'loop of the main thread, p99'),
      ],
    }),
    lineChart({
      title: 'Checks under way',
      description: 'Checks that have begun and not ended, and failures that wait for a control target.',
      unit: 'short',
      width: 12,
      questions: [
        series('sum(upbeat_open_checks)', 'under way'),
        series('sum(upbeat_held_results)', 'held back'),
      ],
    }),
    lineChart({
      title: 'Threads replaced',
      description:
        'Probe threads that ended and were replaced. More than three in a quarter of an hour are an alert.',
      unit: 'short',
      width: 12,
      questions: [series('sum(increase(upbeat_probe_thread_restarts_total[$__rate_interval]))', 'threads')],
    }),
  ];
}

function stores() {
  return [
    lineChart({
      title: 'Samples a second',
      description: 'Samples that were taken.',
      unit: 'ops',
      width: 8,
      questions: [series('sum(rate(upbeat_samples_total[$__rate_interval]))', 'samples')],
    }),
    lineChart({
      title: 'Samples that wait',
      description: 'Samples that are not yet in the store. They grow while InfluxDB is away.',
      unit: 'short',
      width: 8,
      questions: [series('sum(upbeat_samples_pending)', 'samples')],
    }),
    lineChart({
      title: 'Spool on disk',
      description: 'Size of the spool for InfluxDB; without InfluxDB, of the sample store itself.',
      unit: 'bytes',
      width: 8,
      questions: [series('sum(upbeat_samples_file_bytes)', 'on disk')],
    }),
  ];
}

function feeds() {
  return [
    lineChart({
      title: 'Age of vendors’ pages',
      description: 'How long ago the status pages were read well: the ten that are oldest.',
      unit: 's',
      width: 12,
      questions: [series('topk(10, time() - (upbeat_feed_read_timestamp_seconds > 0))', '{{feed}}')],
    }),
    lineChart({
      title: 'Readings of vendors’ pages',
      description: 'Readings a second, those that failed, and the pages whose last reading failed.',
      unit: 'short',
      width: 12,
      questions: [
        series('sum(rate(upbeat_feed_polls_total[$__rate_interval]))', 'readings a second'),
        series('sum(rate(upbeat_feed_polls_failed_total[$__rate_interval]))', 'failed a second'),
        series('sum(upbeat_feeds_failing)', 'pages that fail'),
      ],
    }),
  ];
}

function api() {
  return [
    lineChart({
      title: 'Requests a second by route',
      description: 'Requests that were answered.',
      unit: 'reqps',
      width: 8,
      questions: [series('sum by (route) (rate(upbeat_http_requests_total[$__rate_interval]))', '{{route}}')],
    }),
    lineChart({
      title: 'Requests a second by status',
      description: 'Requests by the status of their answers. 429: over a limit; 5xx: our own fault.',
      unit: 'reqps',
      width: 8,
      questions: [
        series('sum by (status) (rate(upbeat_http_requests_total[$__rate_interval]))', '{{status}}'),
      ],
    }),
    lineChart({
      title: 'Time of an answer, 95th percentile',
      description: 'From the arrival of a request to the end of its answer.',
      unit: 's',
      width: 8,
      questions: [
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
        'Of the whole process, of the main thread’s heap, of buffers, and of the largest probe thread’s heap.',
      unit: 'bytes',
      width: 8,
      questions: [
        series('sum(upbeat_process_resident_memory_bytes)', 'process'),
        series('sum(upbeat_nodejs_heap_size_used_bytes)', 'main heap'),
        series('sum(upbeat_nodejs_external_memory_bytes)', 'buffers'),
        series('max(upbeat_probe_heap_bytes)', 'largest probe heap'),
      ],
    }),
    stacked({
      title: 'Processor',
      description: 'Processors in use: 1 is one whole processor.',
      unit: 'short',
      width: 8,
      from: PROMETHEUS,
      questions: [
        series('sum(rate(upbeat_process_cpu_user_seconds_total[$__rate_interval]))', 'user'),
        series('sum(rate(upbeat_process_cpu_system_seconds_total[$__rate_interval]))', 'system'),
      ],
    }).min(0),
    lineChart({
      title: 'Event streams',
      description: 'Open streams of events, and connections of the program.',
      unit: 'short',
      width: 8,
      questions: [
        series('sum(upbeat_event_streams)', 'streams'),
        series('sum(upbeat_process_open_fds)', 'files and sockets'),
      ],
    }),
  ];
}
