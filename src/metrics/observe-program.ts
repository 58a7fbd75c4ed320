/** Registers the metrics of all parts. */
import { countNodes, type NodeState } from '../domain/node.ts';
import type { Service } from '../domain/service.ts';
import type { Verdict } from '../domain/status.ts';
import type { AlertCounts } from '../store/ports/alerts.ts';
import type { AlertDelay } from '../store/ports/channels.ts';
import type { SampleStoreStats } from '../store/ports/samples.ts';
import type { StatusReads } from '../store/ports/status.ts';
import { type Metrics, observeSlots, type SlotFigures } from './metrics.ts';
import { type ClusterFigures, observeCluster } from './observe-cluster.ts';

/** The figures that a probe thread reports. */
interface HostFigures {
  readonly openChecks: number;
  readonly waiting: number;
  readonly checksDone: number;
  readonly startDelayMs: { readonly p50: number; readonly p99: number };
  readonly loopDelayMs: number;
  readonly heapBytes: number;
  readonly shares: SlotFigures;
  readonly postponed: number;
}

/** The observed parts, each with the members that the metrics read. */
export interface ObservedParts {
  /** The current role of this process; absent: it is always the monitor. */
  readonly role?: () => 'monitor' | 'serving' | 'standby' | 'probing';
  /** The name and the region of this process; absent: they are not shown. */
  readonly node?: Pick<NodeState, 'name' | 'region'>;
  /** The fence of the lease that this process holds, 0 if it holds none; absent: 0. */
  readonly fence?: () => number;
  /** The live nodes; absent: none are shown. */
  readonly nodes?: () => readonly NodeState[];
  /** The wall clock of this process minus Redis' clock, milliseconds; absent: 0. */
  readonly clockOffsetMs?: () => number;
  readonly fleet: {
    report(): {
      readonly services: number;
      readonly restarts: number;
      readonly checksDone: number;
      readonly unreadableCredentials?: number;
      readonly hosts: readonly (HostFigures | null)[];
    };
  };
  readonly record: {
    prober(): {
      readonly online: boolean;
      readonly offlineSince: number | null;
      readonly heldResults: number;
      readonly suspectCount: number;
    };
    /** Results and heartbeats that the record has dropped since the start; absent: none. */
    dropped?(): number;
  };
  readonly samples: {
    stats(): SampleStoreStats;
    /** Samples dropped since the start; absent: this store drops none. */
    lost?(): number;
  };
  /** External stores by name, each with its problem; null: it is available. */
  readonly stores: () => Readonly<Record<string, { readonly problem: string | null }>>;
  /** Identity of this installation, for links and for operators of several. */
  readonly site: { readonly url: string; readonly version: string };
  readonly directory: { all(): readonly Service[]; hidden(): readonly Service[] };
  readonly status: StatusReads;
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
  /** Warnings and errors of the log since the start by event; absent: they are not counted. */
  readonly logEvents?: () => Readonly<Record<string, number>>;
  /** Attempts to deliver since the start, by what was sent and how they ended; absent: this process delivers nothing. */
  readonly deliveries?: () => Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Checks that are due and not made; absent: not watched. */
  readonly stoppedChecks?: {
    stoppedMs(): number;
    regionsStoppedMs(): ReadonlyMap<string, number>;
  };
  /** Null (the default): this process tells nobody. */
  readonly alerts?: ReadAlertFigures | null;
  /** This process as a part of a cluster; null (the default) if it is none. */
  readonly cluster?: ClusterFigures | null;
  /** Null (the default) if it is not used. */
  readonly redis?: {
    problem(): string | null;
    stats(): { readonly commandsFailed: number; readonly reconnects: number };
  } | null;
}

const VERDICTS: readonly Verdict[] = ['up', 'slow', 'down'];

const seconds = (ms: number) => ms / 1_000;

export function observeProgram(metrics: Metrics, parts: ObservedParts): void {
  observeProcess(metrics, parts);
  observeChecks(metrics, parts);
  observeProber(metrics, parts);
  observeStores(metrics, parts);
  observeFeeds(metrics, parts);
  if (parts.redis) observeRedis(metrics, parts.redis);
  metrics.gauge('upbeat_event_streams', 'Open event streams.', () => parts.openStreams());
}

/** The site, and this process among the others. */
function observeProcess(metrics: Metrics, parts: ObservedParts): void {
  const { directory, status } = parts;
  metrics.info('upbeat_site_info', 'Address of the site, and version of the program.', { ...parts.site });
  metrics.gaugeBy('upbeat_services', 'Public services by current status.', 'status', () => {
    const hidden = directory.hidden();
    const hiddenAs = hidden.map(({ id }) => status.headOf(id)?.status);
    const verdicts = VERDICTS.map((word) => {
      const count = status.counts.withStatus(word) - hiddenAs.filter((one) => one === word).length;
      return [word, Math.max(0, count)] as const;
    });
    const known = verdicts.reduce((sum, [, count]) => sum + count, 0);
    // A service without a record is unknown. The list and the records of a copy do not change at the same moment.
    const unknown = directory.all().length - hidden.length - known;
    return { ...Object.fromEntries(verdicts), unknown: Math.max(0, unknown) };
  });
  metrics.gauge('upbeat_monitor', '1 if this process is the monitor, 0 if another one is.', () =>
    (parts.role?.() ?? 'monitor') === 'monitor' ? 1 : 0,
  );
  metrics.gaugeByAll(
    'upbeat_nodes',
    'Live nodes by region and role; a node counts for each of its roles.',
    ['region', 'role'],
    () => countNodes(parts.nodes?.() ?? []).map(({ nodes, ...labels }) => ({ labels, value: nodes })),
  );
  metrics.gauge(
    'upbeat_lease_fence',
    'Number of times that a process has become the monitor, as the monitor knows it; 0 in all other processes.',
    () => parts.fence?.() ?? 0,
  );
  if (parts.node !== undefined) {
    const { name, region } = parts.node;
    metrics.info('upbeat_node_info', 'Name and region of this process.', { node: name, region });
  }
  if (parts.logEvents !== undefined)
    metrics.counterBy(
      'upbeat_log_events_total',
      'Warnings and errors in the log by event (docs/runbook.md).',
      'event',
      parts.logEvents,
    );
  const { deliveries } = parts;
  if (deliveries !== undefined)
    metrics.counterByAll(
      'upbeat_deliveries_total',
      'Attempts to send webhooks, letters and messages of alerts: delivered, retried (another one follows), given_up, and dropped (deleted before, because too many waited).',
      ['what', 'end'],
      () =>
        Object.entries(deliveries()).flatMap(([what, counts]) =>
          Object.entries(counts).map(([end, value]) => ({ labels: { what, end }, value })),
        ),
    );
  if (parts.alerts) observeAlerts(metrics, parts.alerts);
  if (parts.cluster) observeCluster(metrics, parts.cluster, parts);
  metrics.gauge(
    'upbeat_clock_offset_seconds',
    "Wall clock of this process minus Redis' clock; 0 outside of a cluster.",
    () => seconds(parts.clockOffsetMs?.() ?? 0),
  );
}

/** The checks of this process, and its probe threads. */
function observeChecks(metrics: Metrics, parts: ObservedParts): void {
  const { fleet } = parts;
  const worst = (read: (host: HostFigures) => number) => () =>
    fleet.report().hosts.reduce((most, host) => Math.max(most, host === null ? 0 : read(host)), 0);
  metrics.gauge(
    'upbeat_services_probed',
    'Services that the probe threads check.',
    () => fleet.report().services,
  );
  metrics.gauge(
    'upbeat_credentials_unreadable',
    'Services whose credentials this node could not decrypt in the last hour: their checks are not made.',
    () => fleet.report().unreadableCredentials ?? 0,
  );
  metrics.counter('upbeat_checks_total', 'Completed checks.', () => fleet.report().checksDone);
  metrics.counter(
    'upbeat_probe_thread_restarts_total',
    'Replacements of probe threads.',
    () => fleet.report().restarts,
  );
  metrics.gauge(
    'upbeat_checks_stopped_seconds',
    'How long this process has made none of the checks that are due; 0: it makes them, or none is due.',
    () => seconds(parts.stoppedChecks?.stoppedMs() ?? 0),
  );
  metrics.gaugeBy(
    'upbeat_region_checks_stopped_seconds',
    'How long no node has made checks from each region; 0: one does. Only the monitor of a cluster reports it.',
    'region',
    () =>
      Object.fromEntries(
        [...(parts.stoppedChecks?.regionsStoppedMs() ?? [])].map(([region, ms]) => [region, seconds(ms)]),
      ),
  );
  metrics.gauge('upbeat_open_checks', 'Checks in flight.', () =>
    fleet.report().hosts.reduce((sum, host) => sum + (host?.openChecks ?? 0), 0),
  );
  metrics.counter(
    'upbeat_attempts_postponed_total',
    'Attempts of the present probe threads that were put off, because their address had as many connections as it may.',
    () => fleet.report().hosts.reduce((sum, host) => sum + (host?.postponed ?? 0), 0),
  );
  observeSlots(metrics, () => fleet.report().hosts.flatMap((host) => host?.shares ?? []));
  metrics.gauge(
    'upbeat_check_start_delay_p99_seconds',
    'Start delay of checks in the last second, 99th percentile of the worst thread, without those that wait for their own account.',
    worst((host) => seconds(host.startDelayMs.p99)),
  );
  metrics.gauge(
    'upbeat_probe_loop_delay_seconds',
    'Maximum event loop delay of the probe threads in the last second.',
    worst((host) => seconds(host.loopDelayMs)),
  );
  metrics.gauge(
    'upbeat_probe_heap_bytes',
    'Heap of the largest probe thread.',
    worst((host) => host.heapBytes),
  );
}

function observeProber(metrics: Metrics, { record }: ObservedParts): void {
  metrics.gauge('upbeat_prober_online', '1: the prober is online; 0: it is offline.', () =>
    record.prober().online ? 1 : 0,
  );
  metrics.gauge(
    'upbeat_prober_offline_since_seconds',
    'Unix time at which the prober went offline, 0 if it is online.',
    () => seconds(record.prober().offlineSince ?? 0),
  );
  metrics.gauge(
    'upbeat_held_results',
    'Failed results held until a control target responds.',
    () => record.prober().heldResults,
  );
  metrics.counter(
    'upbeat_suspect_results_total',
    'Results marked suspect because the prober may have been at fault.',
    () => record.prober().suspectCount,
  );
  metrics.counter(
    'upbeat_observations_dropped_total',
    'Results and heartbeats dropped because the registry was unavailable while too many of a service waited.',
    () => record.dropped?.() ?? 0,
  );
}

function observeStores(metrics: Metrics, parts: ObservedParts): void {
  const { samples } = parts;
  metrics.counter('upbeat_samples_total', 'Samples taken.', () => samples.stats().appended);
  metrics.gauge('upbeat_samples_pending', 'Samples waiting to be stored.', () => samples.stats().pending);
  metrics.gauge(
    'upbeat_samples_file_bytes',
    'Size of the sample store on disk.',
    () => samples.stats().fileBytes,
  );
  metrics.counter(
    'upbeat_samples_lost_total',
    'Samples dropped because the store was unavailable for longer than the spool could hold.',
    () => samples.lost?.() ?? 0,
  );
  metrics.gaugeBy(
    'upbeat_store_connected',
    '1: the external store is available; 0: it is not.',
    'store',
    () =>
      Object.fromEntries(
        Object.entries(parts.stores()).map(([store, { problem }]) => [store, problem === null ? 1 : 0]),
      ),
  );
}

function observeFeeds(metrics: Metrics, { feeds }: ObservedParts): void {
  metrics.gauge('upbeat_feeds', 'Vendor status pages that are polled.', () => feeds.health().length);
  metrics.gauge(
    'upbeat_feeds_failing',
    'Vendor status pages whose last read failed.',
    () => feeds.health().filter(({ problem }) => problem !== null).length,
  );
  metrics.gaugeBy(
    'upbeat_feed_read_timestamp_seconds',
    'Unix time of the last successful read of each vendor status page, 0 if there was none.',
    'feed',
    () => Object.fromEntries(feeds.health().map(({ feedId, readAt }) => [feedId, seconds(readAt ?? 0)])),
  );
  metrics.counter(
    'upbeat_feed_polls_total',
    'Reads of vendor status pages.',
    () => feeds.polls().good + feeds.polls().failed,
  );
  metrics.counter('upbeat_feed_polls_failed_total', 'Of these, failed.', () => feeds.polls().failed);
}

function observeRedis(metrics: Metrics, redis: NonNullable<ObservedParts['redis']>): void {
  metrics.gauge('upbeat_redis_connected', '1: Redis is available; 0: it is not.', () =>
    redis.problem() === null ? 1 : 0,
  );
  metrics.counter(
    'upbeat_redis_commands_failed_total',
    'Redis commands that timed out or failed.',
    () => redis.stats().commandsFailed,
  );
  metrics.counter('upbeat_redis_reconnects_total', 'Reconnects to Redis.', () => redis.stats().reconnects);
}

/** Figures of the process that decides and sends; null: another one does, or nothing was read yet. */
type ReadAlertFigures = () => { readonly counts: AlertCounts; readonly delay: AlertDelay } | null;

export function observeAlerts(metrics: Metrics, read: ReadAlertFigures): void {
  metrics.gaugeBy(
    'upbeat_alert_messages',
    'Messages of alerts: waiting, retrying (those of them that have failed), and in the last 24 hours delivered, failed, and dropped (those of them for which too many waited).',
    'state',
    () => {
      const { waiting, retrying, delivered, failed, dropped } = read()?.counts ?? NONE;
      return { waiting, retrying, delivered, failed, dropped };
    },
  );
  metrics.gaugeBy(
    'upbeat_alert_delay_seconds',
    'Time from the first failed attempt of a check to the delivery of the alert about it, in the last hour. Absent without alerts.',
    'quantile',
    () => {
      const { p50Ms = null, p99Ms = null } = read()?.delay ?? {};
      return {
        ...(p50Ms === null ? {} : { '0.5': p50Ms / 1_000 }),
        ...(p99Ms === null ? {} : { '0.99': p99Ms / 1_000 }),
      };
    },
  );
  metrics.gauge(
    'upbeat_alert_events_backlog',
    'Events that alerts are made from and that are not decided yet.',
    () => read()?.counts.events ?? 0,
  );
  metrics.gauge(
    'upbeat_alert_overdue_seconds',
    'For how long the longest waiting message of an alert has been due.',
    () => (read()?.counts.overdueMs ?? 0) / 1_000,
  );
}

const NONE = { waiting: 0, retrying: 0, delivered: 0, failed: 0, dropped: 0 };
