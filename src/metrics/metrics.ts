/** Metrics of the program for Prometheus. */
import { createHistogram } from 'node:perf_hooks';
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricValueWithName,
  Registry,
} from 'prom-client';
import { getOrInsert } from '../async/bounded-map.ts';
import { systemClock } from '../clock.ts';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus } from '../domain/status/current.ts';

/** The figures that a probe thread reports. */
export interface SlotFigures {
  readonly catalogue: { readonly held: number; readonly waiting: number };
  readonly owners: { readonly held: number; readonly waiting: number };
  readonly heldLong: number;
  readonly mostOfAccount: number;
  readonly heldUp: number;
  readonly bounded: readonly {
    readonly accountId: number;
    readonly held: number;
    readonly waiting: number;
  }[];
}

/** The program's metrics. Names begin with `upbeat_` and follow Prometheus' naming rules. */
export type Metrics = ReturnType<typeof createMetrics>;

/** A value of a metric with several labels. */
interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The values of a metric with one label, by the label's value. */
type ByLabel = Readonly<Record<string, number>>;

type ReadValues = () => readonly LabelledValue[];

interface ReadMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: string[];
  readonly read: ReadValues;
}

/** Creates a set that contains only the metrics of the process (memory, CPU, event loop). */
export function createMetrics() {
  const registry = new Registry();
  const prefix = 'upbeat_';
  collectDefaultMetrics({ register: registry, prefix, eventLoopMonitoringPrecision: UNUSED_RESOLUTION_MS });
  replaceEventLoopLag(registry, prefix);
  // Gauges named like counters; each is the sum of the metric by type without the suffix.
  for (const what of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`upbeat_nodejs_active_${what}_total`);
  /** Completed requests since the last scrape by route and status: the counter itself takes longer for each. */
  const completed = new Map<string, Map<number, number>>();
  new Counter({
    name: 'upbeat_http_requests_total',
    help: 'Completed HTTP requests by route and status.',
    labelNames: ['route', 'status'],
    registers: [registry],
    collect() {
      for (const [route, statuses] of completed)
        for (const [status, count] of statuses) this.inc({ route, status }, count);
      completed.clear();
    },
  });
  const noteDuration = addRequestDurations(registry, {
    name: 'upbeat_http_request_duration_seconds',
    help: 'Time from the arrival of a request to the end of its response.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
  });
  const refusals = new Counter({
    name: 'upbeat_http_overload_refusals_total',
    help: 'HTTP requests refused because the program was overloaded, by class: pages, api, heartbeats.',
    labelNames: ['class'],
    registers: [registry],
  });
  const refusedConnections = new Counter({
    name: 'upbeat_http_connections_refused_total',
    help: 'Connections refused, by reason: client (it has its share), full (all are taken), system (no descriptors).',
    labelNames: ['reason'],
    registers: [registry],
  });
  return {
    contentType: registry.contentType as string,
    /** The exposition in Prometheus' text format. */
    render: (): Promise<string> => registry.metrics(),
    /** Adds a gauge whose value is read at each scrape. */
    gauge: (name: string, help: string, read: () => number): void =>
      addGauge(registry, { name, help, read: () => [{ labels: {}, value: read() }] }),
    /** Adds a gauge with one label; `read` returns the value for each label value. */
    gaugeBy: (name: string, help: string, label: string, read: () => ByLabel): void =>
      addGauge(registry, { name, help, labelNames: [label], read: () => labelled(label, read()) }),
    /** Adds a gauge with several labels; `read` returns every value with its labels. */
    gaugeByAll: (name: string, help: string, labelNames: string[], read: ReadValues): void =>
      addGauge(registry, { name, help, labelNames, read }),
    /** Adds a counter that is kept elsewhere and only grows. */
    counter: (name: string, help: string, read: () => number): void =>
      addCounter(registry, { name, help, read: () => [{ labels: {}, value: read() }] }),
    /** Adds a counter with one label that is kept elsewhere and only grows; `read` returns the value for each label value. */
    counterBy: (name: string, help: string, label: string, read: () => ByLabel): void =>
      addCounter(registry, { name, help, labelNames: [label], read: () => labelled(label, read()) }),
    /** Adds a counter with several labels that is kept elsewhere and only grows; `read` returns every value with its labels. */
    counterByAll: (name: string, help: string, labelNames: string[], read: ReadValues): void =>
      addCounter(registry, { name, help, labelNames, read }),
    /** Adds constant facts as labels of a gauge that is always 1. */
    info(name: string, help: string, facts: Readonly<Record<string, string>>): void {
      new Gauge({ name, help, labelNames: Object.keys(facts), registers: [registry] }).set(facts, 1);
    },
    /** Counts a request that was refused under overload. */
    noteOverloadRefusal(requestClass: string): void {
      refusals.inc({ class: requestClass });
    },
    /** Counts a connection that was refused. */
    noteRefusedConnection(reason: string): void {
      refusedConnections.inc({ reason });
    },
    /** Counts a completed request; `seconds` from its arrival to the end of its response. */
    noteRequest(route: string, status: number, seconds: number): void {
      const statuses = getOrInsert(completed, route, () => new Map<number, number>());
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      noteDuration(route, seconds);
    },
  };
}

function labelled(label: string, values: ByLabel): LabelledValue[] {
  return Object.entries(values).map(([word, value]) => ({ labels: { [label]: word }, value }));
}

function addGauge(registry: Registry, { read, ...configuration }: ReadMetric): void {
  new Gauge({
    ...configuration,
    registers: [registry],
    collect() {
      // Removes label values that are no longer returned.
      this.reset();
      for (const { labels, value } of read()) this.set({ ...labels }, value);
    },
  });
}

function addCounter(registry: Registry, { read, ...configuration }: ReadMetric): void {
  const seen = new Map<string, number>();
  new Counter({
    ...configuration,
    registers: [registry],
    collect() {
      for (const { labels, value } of read()) {
        const key = JSON.stringify(labels);
        const before = seen.get(key) ?? 0;
        this.inc({ ...labels }, Math.max(0, value - before));
        seen.set(key, Math.max(before, value));
      }
    },
  });
}

/** Adds the metrics. `read` returns the figures of all threads. */
export function observeSlots(metrics: Metrics, read: () => readonly SlotFigures[]): void {
  const sum = (count: (figures: SlotFigures) => number) =>
    read().reduce((total, figures) => total + count(figures), 0);
  metrics.gaugeBy(
    'upbeat_probe_slots',
    'Slots that checks hold, by whose services they are.',
    'holder',
    () => ({
      catalogue: sum(({ catalogue }) => catalogue.held),
      owners: sum(({ owners }) => owners.held),
    }),
  );
  metrics.gaugeBy('upbeat_checks_waiting', 'Checks that are due and wait for a slot.', 'holder', () => ({
    catalogue: sum(({ catalogue }) => catalogue.waiting),
    owners: sum(({ owners }) => owners.waiting),
  }));
  metrics.gauge(
    'upbeat_probe_slots_long',
    'Slots that are held by services whose last three attempts took 5 s or longer.',
    () => sum(({ heldLong }) => heldLong),
  );
  metrics.gauge(
    'upbeat_probe_slots_top_account',
    "Slots of a probe thread that the owner's account with most of them holds.",
    () => read().reduce((most, { mostOfAccount }) => Math.max(most, mostOfAccount), 0),
  );
  metrics.gauge(
    'upbeat_checks_held_up',
    'Checks that wait because their account holds as many slots as an account may.',
    () => sum(({ heldUp }) => heldUp),
  );
  metrics.gauge(
    'upbeat_accounts_at_bound',
    'Accounts of these checks; at most 16 of a probe thread are counted.',
    () => new Set(read().flatMap(({ bounded }) => bounded.map(({ accountId }) => accountId))).size,
  );
}

/** Interval of the measurement, milliseconds. It shares its wake-up with what else is done every second. */
const PERIOD_MS = 1_000;

/** Microseconds that the histogram tells apart by two figures, up to an hour. By default it takes 1.1 MB, so 24 KB. */
const RANGE_US = { lowest: 1, highest: 3_600_000_000, figures: 2 };

/** Interval with which prom-client's timer never runs, milliseconds: about 24 days. */
const UNUSED_RESOLUTION_MS = 2 ** 31 - 1;

/** Replaces prom-client's percentiles of the lag, whose timer would be most of the wake-ups of a program with little to do. */
function replaceEventLoopLag(registry: Registry, prefix: string): void {
  const histogram = createHistogram(RANGE_US);
  /** Every second of the clock, since the timers of {@link systemClock} are aligned. */
  let dueMs = (Math.floor(systemClock.monotonic() / PERIOD_MS) + 1) * PERIOD_MS;
  systemClock.every(PERIOD_MS, () => {
    const nowMs = systemClock.monotonic();
    const lagUs = Math.round((nowMs - dueMs) * 1_000);
    histogram.record(Math.min(RANGE_US.highest, Math.max(RANGE_US.lowest, lagUs)));
    dueMs = (Math.floor(nowMs / PERIOD_MS) + 1) * PERIOD_MS;
  });
  const seconds = (us: number) => (histogram.count === 0 ? 0 : us / 1e6);
  const gauges = (
    [
      ['min', 'Shortest', () => seconds(histogram.min)],
      ['mean', 'Mean', () => seconds(histogram.mean)],
      ['stddev', 'Standard deviation of the', () => (histogram.count < 2 ? 0 : histogram.stddev / 1e6)],
      ['p50', '50th percentile of the', () => seconds(histogram.percentile(50))],
      ['p90', '90th percentile of the', () => seconds(histogram.percentile(90))],
      ['p99', '99th percentile of the', () => seconds(histogram.percentile(99))],
      ['max', 'Longest', () => seconds(histogram.max)],
    ] as const
  ).map(([what, words, read]) => {
    const name = `${prefix}nodejs_eventloop_lag_${what}_seconds`;
    registry.removeSingleMetric(name);
    return { name, help: `${words} delay of the event loop since the last scrape.`, read };
  });
  // One of them reads all values, and begins anew.
  let values = gauges.map(() => 0);
  for (const [index, { name, help }] of gauges.entries())
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        if (index === 0) {
          values = gauges.map(({ read }) => read());
          histogram.reset();
        }
        this.set(values[index] ?? 0);
      },
    });
}

// The histogram of the durations of requests by route, which costs less for each request than the one of the library.

interface DurationsOptions {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, seconds, ascending. */
  readonly buckets: readonly number[];
}

interface Series {
  /** Requests by the first bucket that holds them; the last one has no bound. */
  readonly counts: number[];
  sumSeconds: number;
}

/** Adds the histogram to a registry. Returns the function that counts a request of a route. */
export function addRequestDurations(
  registry: Registry,
  { name, help, buckets }: DurationsOptions,
): (route: string, seconds: number) => void {
  const byRoute = new Map<string, Series>();
  const read = async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: [...byRoute].flatMap(([route, series]) => listValues(name, route, series, buckets)),
  });
  // The registry needs no more of a metric than these members.
  registry.registerMetric({ name, get: read, reset: () => byRoute.clear() } as unknown as Metric);
  return (route, seconds) => {
    const series = getOrInsert(byRoute, route, () => ({
      counts: new Array<number>(buckets.length + 1).fill(0),
      sumSeconds: 0,
    }));
    let bucket = 0;
    while (bucket < buckets.length && seconds > (buckets[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sumSeconds += seconds;
  };
}

/** The values of a route, in the order in which the library writes them. Each bucket includes those below it. */
function listValues(
  name: string,
  route: string,
  { counts, sumSeconds }: Series,
  buckets: readonly number[],
): MetricValueWithName<'le' | 'route'>[] {
  let total = 0;
  const bounded = counts.map((count, bucket) => {
    total += count;
    const le = buckets[bucket] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { le, route }, value: total };
  });
  return [
    ...bounded,
    { metricName: `${name}_sum`, labels: { route }, value: sumSeconds },
    { metricName: `${name}_count`, labels: { route }, value: total },
  ];
}

// Series of single services for Prometheus, for those who alert on their own services without another database.

/** Maximum number of services in a response, about 0.4 kB each. */
export const MAX_SERIES_SERVICES = 5_000;

/** The status of a service; null: never checked. */
type StatusOf = (service: Service) => CurrentStatus | null;

/**
 * The series of `services` in Prometheus' text format, in the given order; `total` is the number of services that match,
 * of which `services` are the first. A value that is not known has no line.
 */
export async function renderServiceSeries(
  services: readonly Service[],
  total: number,
  statusOf: StatusOf,
): Promise<string> {
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: readonly string[] = LABELS) =>
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] });
  const up = gauge('upbeat_service_up', 'Whether the service is up or slow (1), or down (0).');
  const response = gauge('upbeat_service_response_seconds', 'Response time of the latest check.');
  const expiry = gauge(
    'upbeat_service_certificate_expiry_seconds',
    'Unix time at which the certificate of the latest check expires.',
  );
  gauge('upbeat_services_without_series', 'Matching services beyond the maximum of a response.', []).set(
    total - services.length,
  );
  for (const service of services) {
    const current = statusOf(service);
    if (current === null || current.status === 'unknown') continue;
    const labels = { service: service.slug, domain: service.domain, category: service.category };
    up.set(labels, current.status === 'down' ? 0 : 1);
    const { latest } = current;
    const responseMs = latest?.responseTimeMs ?? null;
    // A heartbeat without a latency counts as 0 ms.
    if (responseMs !== null && (responseMs > 0 || latest?.source !== 'heartbeat'))
      response.set(labels, responseMs / 1_000);
    if (latest?.certificateExpiresAt != null) expiry.set(labels, latest.certificateExpiresAt / 1_000);
  }
  return await registry.metrics();
}

const LABELS = ['service', 'domain', 'category'];
