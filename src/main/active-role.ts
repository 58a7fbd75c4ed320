/**
 * The current role of this process, behind one interface that survives a change of role: API and pages continue while a
 * serving process becomes the monitor.
 */
import type { HeartbeatIntake } from '../api/heartbeats.ts';
import { createListeners } from '../async/listeners.ts';
import type { ServiceVendorStatus } from '../domain/incident/vendor-incident.ts';
import type { Service } from '../domain/service.ts';
import type { StatusHead, Transition } from '../domain/status/current.ts';
import type { PastOutage } from '../domain/status/reach.ts';
import type { FeedHealth } from '../feeds/vendor-status-cache.ts';
import type { Log } from '../log.ts';
import type { ObservedParts } from '../metrics/observe-program.ts';
import type { ProberState } from '../record/connection-watch.ts';
import { createTransitionListeners } from '../record/transition-feed.ts';
import type { SampleReads } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { createMemoryStatusStore } from '../store/status/memory-status-store.ts';
import { readCells } from '../view/heatmap-cells.ts';
import type { PartStates, Readiness } from '../view/monitor.ts';

export interface MonitorState {
  readonly prober: ProberState;
  /** States of the monitor's stores, except Redis. */
  readonly stores: PartStates;
  readonly feeds: readonly FeedHealth[];
  /** A number that changes with every change of a vendor status. */
  readonly vendorChanges: number;
}

export const UNKNOWN_MONITOR_STATE: MonitorState = {
  prober: { online: true, offlineSince: null, reason: null, heldResults: 0, suspectCount: 0 },
  stores: {},
  feeds: [],
  vendorChanges: 0,
};

const FEED = 'feed:';

/** Formats a state; a string changes only if its part of the state does. */
export function formatMonitorState({
  prober,
  stores,
  feeds,
  vendorChanges,
}: MonitorState): Map<string, string> {
  return new Map([
    ['prober', JSON.stringify(prober)],
    ['stores', JSON.stringify(stores)],
    ['vendors', String(vendorChanges)],
    ...feeds.map((feed): [string, string] => [FEED + feed.feedId, JSON.stringify(feed)]),
  ]);
}

/** Parses a state; missing or unreadable parts are those of {@link UNKNOWN_MONITOR_STATE}. */
export function parseMonitorState(fields: Readonly<Record<string, string>>): MonitorState {
  const read = <T>(name: string, fallback: T): T => {
    try {
      return fields[name] === undefined ? fallback : (JSON.parse(fields[name]) as T);
    } catch {
      return fallback;
    }
  };
  return {
    prober: read('prober', UNKNOWN_MONITOR_STATE.prober),
    stores: read('stores', UNKNOWN_MONITOR_STATE.stores),
    vendorChanges: read('vendors', 0),
    feeds: Object.keys(fields).flatMap((name) => {
      const feed = name.startsWith(FEED) ? read<FeedHealth | null>(name, null) : null;
      return feed === null ? [] : [feed];
    }),
  };
}

/** The fleet of a process that makes no checks. */
export const NO_FLEET: Role['fleet'] = {
  report: () => ({ services: 0, restarts: 0, checksDone: 0, hosts: [] }),
};

/** The parts that every role has, and the active role delegates. */
interface SharedRole {
  readonly status: StatusStore;
  readonly heartbeats: HeartbeatIntake;
  vendorOf(service: Service): ServiceVendorStatus | null;
  watchTransitions(listener: (transition: Transition) => void): () => void;
  prober(): ProberState;
  /** States of the external stores other than Redis. */
  stores(): PartStates;
  readonly fleet: ObservedParts['fleet'];
  feeds(): readonly FeedHealth[];
  polls(): { readonly good: number; readonly failed: number };
}

/** A role of a process: monitor or serving. */
export interface Role extends SharedRole {
  readonly name: Readiness['role'];
  readonly samples: SampleReads & Partial<ObservedParts['samples']>;
  /** Checks services as soon as slots are free; absent: only the monitor does. */
  recheck?(serviceIds: readonly number[]): void;
  /** The newest outage of a service, if it is over; absent: only the monitor remembers. */
  lastOutageOf?(serviceId: number): PastOutage | null;
  /** Results and heartbeats that this process has dropped since the start; absent: none. */
  dropped?(): number;
  /** Reloads what can change while the program runs. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** The active role; its members delegate to the role in charge. */
export interface ActiveRole extends SharedRole {
  readonly current: Role;
  recheck(serviceIds: readonly number[]): void;
  lastOutageOf(serviceId: number): PastOutage | null;
  dropped(): number;
  readonly samples: SampleReads & ObservedParts['samples'];
  /** Makes `role` the active role. The previous one is not stopped. */
  take(role: Role): void;
}

const NO_STATS = { appended: 0, pending: 0, fileBytes: 0 };

/**
 * No role is active before `take`. `mayServe`: the process may answer from a copy, whose age is then reported. Transition
 * listeners receive every transition once and in order, also across a change of role.
 */
export function createActiveRole({ mayServe, log }: { readonly mayServe: boolean; readonly log: Log }) {
  let role: Role | null = null;
  let stopWatching = () => {};
  const watchers = createListeners<[StatusHead]>();
  const listeners = createTransitionListeners(log);
  const now = (): Role => {
    if (role === null) throw new Error('no role is active yet');
    return role;
  };

  const activeRole: ActiveRole = {
    get current() {
      return now();
    },
    take(next) {
      const stopBefore = stopWatching;
      role = next;
      const stops = [next.watchTransitions(listeners.announce), next.status.watch(watchers.notify)];
      stopWatching = () => {
        for (const stop of stops) stop();
      };
      stopBefore();
    },
    status: {
      get: (serviceId) => now().status.get(serviceId),
      headOf: (serviceId) => now().status.headOf(serviceId),
      counts: {
        withStatus: (status) => now().status.counts.withStatus(status),
        withScope: (scope) => now().status.counts.withScope(scope),
        failing: () => now().status.counts.failing(),
      },
      put: (records) => now().status.put(records),
      remove: (serviceId) => now().status.remove(serviceId),
      watch: watchers.add,
      // Each role closes its own connections.
      close: async () => watchers.clear(),
      ...(mayServe ? { ageMs: () => now().status.ageMs?.() ?? 0 } : {}),
    },
    samples: {
      query: (query) => now().samples.query(query),
      cells: (queries) => readCells(now().samples, queries),
      newest: (serviceId, limit) => now().samples.newest(serviceId, limit),
      regionsOf: (serviceId) => now().samples.regionsOf(serviceId),
      stats: () => now().samples.stats?.() ?? NO_STATS,
      lost: () => now().samples.lost?.() ?? 0,
      // A serving process gets this state from the monitor.
      missingSince: () => now().stores().influx?.missingSince ?? null,
    },
    heartbeats: {
      takeHeartbeat: (received) => now().heartbeats.takeHeartbeat(received),
      noteRefusal: () => now().heartbeats.noteRefusal(),
    },
    vendorOf: (service) => now().vendorOf(service),
    watchTransitions: listeners.watch,
    prober: () => now().prober(),
    recheck: (serviceIds) => now().recheck?.(serviceIds),
    lastOutageOf: (serviceId) => now().lastOutageOf?.(serviceId) ?? null,
    dropped: () => now().dropped?.() ?? 0,
    stores: () => now().stores(),
    fleet: { report: () => now().fleet.report() },
    feeds: () => now().feeds(),
    polls: () => now().polls(),
  };
  return activeRole;
}

/**
 * Creates the role of a cluster process that neither evaluates results nor serves the site, and answers only `/healthz`, `/readyz` and
 * `/metrics`. `standby`: a judge that becomes the monitor when the lease is free; `probing`: a node that only makes checks.
 */
export function createIdleRole(name: 'standby' | 'probing', log: Log): Role {
  const status = createMemoryStatusStore({ log });
  const notServed = async () => {
    throw new Error('this process does not serve');
  };
  return {
    name,
    status,
    samples: { query: notServed, newest: notServed, regionsOf: notServed },
    heartbeats: { takeHeartbeat: notServed, noteRefusal() {} },
    vendorOf: () => null,
    watchTransitions: () => () => {},
    prober: () => UNKNOWN_MONITOR_STATE.prober,
    stores: () => ({}),
    fleet: NO_FLEET,
    feeds: () => [],
    polls: () => ({ good: 0, failed: 0 }),
    reload: async () => {},
    stop: () => status.close(),
  };
}
