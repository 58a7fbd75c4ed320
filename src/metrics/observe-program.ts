/** Joins the parts' own figures to the metrics. */

import type { Service } from '../domain/service.ts';
import { SERVICE_STATUSES } from '../domain/status.ts';
import type { SampleStoreStats } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { Metrics } from './metrics.ts';

/** The parts that are observed; each as little as is needed. */
export interface ObservedParts {
  /** The part that this process plays at present; absent: it always is the monitor. */
  readonly role?: () => 'monitor' | 'serving';
  readonly fleet: {
    report(): {
      readonly services: number;
      readonly restarts: number;
      readonly checksDone: number;
      readonly hosts: readonly ({
        readonly openChecks: number;
        readonly startDelayMs: { readonly p50: number; readonly p99: number };
        readonly loopDelayMs: number;
        readonly heapBytes: number;
      } | null)[];
    };
  };
  readonly record: {
    prober(): {
      readonly online: boolean;
      readonly offlineSince: number | null;
      readonly heldResults: number;
      readonly suspectCount: number;
    };
  };
  readonly samples: {
    stats(): SampleStoreStats;
    /** Samples given up since the start; absent: this store gives none up. */
    lost?(): number;
  };
  /** Stores outside of the process, by their names; why one is away, null: it answers. */
  readonly stores: () => Readonly<Record<string, { readonly problem: string | null }>>;
  /** What this program is, for links and for those who look after several. */
  readonly site: { readonly url: string; readonly version: string };
  readonly directory: { all(): readonly Service[] };
  readonly status: Pick<StatusStore, 'get'>;
  readonly openStreams: () => number;
  readonly feeds: {
    health(): readonly {
      readonly feedId: string;
      readonly readAt: number | null;
      readonly problem: string | null;
    }[];
    /** Polls ended since the start. */
    polls(): { readonly good: number; readonly failed: number };
  };
  /** Null: it is not used. Default null. */
  readonly redis?: {
    problem(): string | null;
    stats(): { readonly commandsFailed: number; readonly reconnects: number };
  } | null;
}

/** Adds every figure of the program. */
export function observeProgram(metrics: Metrics, parts: ObservedParts): void {
  const { fleet, record, samples, directory, status } = parts;
  const worst =
    (read: (host: NonNullable<ReturnType<typeof fleet.report>['hosts'][number]>) => number) => () =>
      fleet.report().hosts.reduce((most, host) => Math.max(most, host === null ? 0 : read(host)), 0);
  const seconds = (ms: number) => ms / 1_000;

  metrics.info('upbeat_site_info', 'Address of the site, and version of the program.', { ...parts.site });
  metrics.gaugeBy('upbeat_services', 'Services by present status.', 'status', () => {
    const counts: Record<string, number> = Object.fromEntries(SERVICE_STATUSES.map((word) => [word, 0]));
    for (const { id } of directory.all()) {
      const word = status.get(id)?.status ?? 'unknown';
      counts[word] = (counts[word] ?? 0) + 1;
    }
    return counts;
  });
  metrics.gauge('upbeat_monitor', '1: this process probes; 0: it only serves.', () =>
    parts.role?.() === 'serving' ? 0 : 1,
  );
  metrics.gauge(
    'upbeat_services_probed',
    'Services that the probe threads check.',
    () => fleet.report().services,
  );
  metrics.counter('upbeat_checks_total', 'Checks ended.', () => fleet.report().checksDone);
  metrics.counter(
    'upbeat_probe_thread_restarts_total',
    'Probe threads replaced.',
    () => fleet.report().restarts,
  );
  metrics.gauge('upbeat_open_checks', 'Checks under way.', () =>
    fleet.report().hosts.reduce((sum, host) => sum + (host?.openChecks ?? 0), 0),
  );
  metrics.gauge(
    'upbeat_check_start_delay_p99_seconds',
    'How late checks began in the last second, 99th percentile of the worst thread.',
    worst((host) => seconds(host.startDelayMs.p99)),
  );
  metrics.gauge(
    'upbeat_probe_loop_delay_seconds',
    'Worst event-loop delay of the probe threads in the last second.',
    worst((host) => seconds(host.loopDelayMs)),
  );
  metrics.gauge(
    'upbeat_probe_heap_bytes',
    'Heap of the largest probe thread.',
    worst((host) => host.heapBytes),
  );
  metrics.gauge('upbeat_prober_online', '1: our own connection works; 0: it does not.', () =>
    record.prober().online ? 1 : 0,
  );
  metrics.gauge(
    'upbeat_prober_offline_since_seconds',
    'Unix time since which the prober is offline; 0: it is online.',
    () => seconds(record.prober().offlineSince ?? 0),
  );
  metrics.gauge(
    'upbeat_held_results',
    'Failures that wait for a control target.',
    () => record.prober().heldResults,
  );
  metrics.counter(
    'upbeat_suspect_results_total',
    'Results whose failure may be our own.',
    () => record.prober().suspectCount,
  );
  metrics.counter('upbeat_samples_total', 'Samples taken.', () => samples.stats().appended);
  metrics.gauge(
    'upbeat_samples_pending',
    'Samples that wait for their commit.',
    () => samples.stats().pending,
  );
  metrics.gauge(
    'upbeat_samples_file_bytes',
    'Size of the sample store on disk.',
    () => samples.stats().fileBytes,
  );
  metrics.counter(
    'upbeat_samples_lost_total',
    'Samples given up, because the store was away for longer than the spool could hold.',
    () => samples.lost?.() ?? 0,
  );
  metrics.gaugeBy(
    'upbeat_store_connected',
    '1: the store outside of the process answers; 0: it is away. Those that are used.',
    'store',
    () =>
      Object.fromEntries(
        Object.entries(parts.stores()).map(([store, { problem }]) => [store, problem === null ? 1 : 0]),
      ),
  );
  const { feeds } = parts;
  metrics.gauge('upbeat_feeds', 'Status pages that are read.', () => feeds.health().length);
  metrics.gauge(
    'upbeat_feeds_failing',
    'Status pages whose last reading failed.',
    () => feeds.health().filter(({ problem }) => problem !== null).length,
  );
  metrics.gaugeBy(
    'upbeat_feed_read_timestamp_seconds',
    'Unix time of the last good reading of each status page; 0: none yet.',
    'feed',
    () => Object.fromEntries(feeds.health().map(({ feedId, readAt }) => [feedId, seconds(readAt ?? 0)])),
  );
  metrics.counter(
    'upbeat_feed_polls_total',
    'Readings of status pages.',
    () => feeds.polls().good + feeds.polls().failed,
  );
  metrics.counter('upbeat_feed_polls_failed_total', 'Of these, failed.', () => feeds.polls().failed);
  const { redis = null } = parts;
  if (redis !== null) {
    metrics.gauge('upbeat_redis_connected', '1: Redis answers; 0: it is away.', () =>
      redis.problem() === null ? 1 : 0,
    );
    metrics.counter(
      'upbeat_redis_commands_failed_total',
      'Commands that Redis did not answer in time, or by an error.',
      () => redis.stats().commandsFailed,
    );
    metrics.counter(
      'upbeat_redis_reconnects_total',
      'Times that a connection to Redis worked again.',
      () => redis.stats().reconnects,
    );
  }
  metrics.gauge('upbeat_event_streams', 'Open event streams.', () => parts.openStreams());
}
