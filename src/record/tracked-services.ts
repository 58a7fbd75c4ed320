/** The services of the record: the state of each, as `evaluate` reads it, and what is in flight for it. */
import { isSameCheck } from '../domain/check-target.ts';
import type { CurrentStatus } from '../domain/current.ts';
import type { Incident } from '../domain/incident.ts';
import { type CheckResult, isSameMemory, NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { ServiceState } from '../store/ports/services.ts';
import type { StorageRefusal } from '../store/ports/storage-health.ts';
import type { Update } from './evaluate.ts';
import { checkResultOf, type HeartbeatEnd, type Observation } from './observation.ts';
import type { ResultBatch } from './result-batch.ts';

/** An observation, and the callback for its outcome. */
export interface PendingObservation {
  readonly observation: Observation;
  /** Called once with the end of a heartbeat; null: the observation is no heartbeat. */
  readonly reply: ((end: HeartbeatEnd) => void) | null;
  /** The batch of a result, which it holds; null: nothing waits for the commit of the observation. */
  readonly batch: ResultBatch | null;
}

/** An update that is being committed. */
export interface PendingUpdate extends PendingObservation {
  readonly update: Update;
  /** Probe memory to commit with it; null: the registry has the newest one. */
  readonly memory: ProbeMemory | null;
}

/** One service; a {@link ServiceState} that changes. */
export interface TrackedService {
  service: Service;
  /** Ahead of the registry by routine updates of up to a second, never by a transition. */
  current: CurrentStatus;
  openIncident: Incident | null;
  memory: ProbeMemory;
  /** The registry has an older probe memory. */
  isMemoryNew: boolean;
  /** The newest revision is checked in another way, so that earlier results say nothing of it. */
  isCheckChanged: boolean;
  /** When the newest heartbeat that counted arrived, epoch milliseconds; null: none did. */
  lastArrivedAt: number | null;
  /** Newest timestamp of its heartbeats, epoch milliseconds; null: none had one. */
  newestTimestamp: number | null;
  /** Its observations wait in `queue` meanwhile; null: none is. */
  inFlight: PendingUpdate | null;
  /** Oldest first; null: empty. */
  queue: PendingObservation[] | null;
  /** Published in place of `current` while the registry takes no writes; null: `current` is. */
  preview: CurrentStatus | null;
  /** It was removed; what is still in flight for it is dropped. */
  isRemoved: boolean;
}

/** All services of the record. */
export type TrackedServices = ReturnType<typeof createTrackedServices>;

/** Makes an empty table. */
export function createTrackedServices() {
  const byId = new Map<number, TrackedService>();
  const ofDomain = new Map<string, TrackedService>();
  /** Null: to be counted again. */
  let checked: number | null = null;

  function index(tracked: TrackedService): void {
    checked = null;
    if (tracked.service.origin === 'owner') ofDomain.set(tracked.service.domain, tracked);
  }

  return {
    get: (serviceId: number): TrackedService | undefined => byId.get(serviceId),
    /** The owner's service with that domain. */
    byDomain: (domain: string): TrackedService | undefined => ofDomain.get(domain),
    /** How many are checked; the others are paused or send heartbeats. */
    checkedCount(): number {
      checked ??= countChecked(byId.values());
      return checked;
    },
    add(state: ServiceState): TrackedService {
      const tracked = track(state);
      byId.set(state.service.id, tracked);
      index(tracked);
      return tracked;
    },
    /** Replaces the definition by a newer revision. */
    revise(tracked: TrackedService, service: Service): void {
      const before = tracked.service;
      tracked.isCheckChanged = !isSameCheck(before, service);
      if (tracked.isCheckChanged && !isSameMemory(tracked.memory, NO_MEMORY)) learn(tracked, NO_MEMORY);
      // Nor do the verdicts of other regions, until each has checked it again.
      if (tracked.isCheckChanged && tracked.current.regions !== undefined)
        tracked.current = { ...tracked.current, regions: [] };
      // The new account's heartbeats may come from another clock.
      if (before.accountId !== service.accountId) tracked.newestTimestamp = null;
      tracked.service = service;
      index(tracked);
    },
    remove(tracked: TrackedService): void {
      const { id, domain } = tracked.service;
      tracked.isRemoved = true;
      checked = null;
      byId.delete(id);
      if (ofDomain.get(domain) === tracked) ofDomain.delete(domain);
    },
  };
}

function track({
  service,
  current,
  memory,
  openIncident,
  newestTimestamp = null,
  lastArrivedAt = null,
}: ServiceState): TrackedService {
  return {
    service,
    current,
    openIncident,
    memory,
    isMemoryNew: false,
    isCheckChanged: false,
    lastArrivedAt,
    newestTimestamp,
    inFlight: null,
    queue: null,
    preview: null,
    isRemoved: false,
  };
}

function countChecked(all: Iterable<TrackedService>): number {
  let count = 0;
  for (const { service } of all) if (!service.paused && service.check.kind !== 'heartbeat') count += 1;
  return count;
}

/** Whether the result is of the service as it is defined now. */
export function isOfRevision({ service, isRemoved }: TrackedService, { revision }: CheckResult): boolean {
  return !isRemoved && !service.paused && service.revision === revision;
}

/** Keeps the probe memory after a check. */
export function learn(tracked: TrackedService, memory: ProbeMemory): void {
  tracked.memory = memory;
  tracked.isMemoryNew = true;
}

/** Takes the probe memory that the next commit is to write; null: the registry has it. */
export function takeNewMemory(tracked: TrackedService): ProbeMemory | null {
  if (!tracked.isMemoryNew) return null;
  tracked.isMemoryNew = false;
  return tracked.memory;
}

/** Notes a heartbeat that was committed. */
export function noteHeartbeat(tracked: TrackedService, heartbeat: HeartbeatWrite): void {
  const { counted, kind, arrivedAt, timestamp } = heartbeat;
  if (!counted) return;
  tracked.lastArrivedAt = Math.max(arrivedAt, tracked.lastArrivedAt ?? arrivedAt);
  if (timestamp !== null && kind !== 'start')
    tracked.newestTimestamp = Math.max(timestamp, tracked.newestTimestamp ?? timestamp);
}

/** Queued observations of a service where the newest is a result: they must not fill the memory. */
const MAX_WITH_RESULT = 16;
/** Queued observations of a service where the newest is a heartbeat; each sender waits too. */
const MAX_WITH_HEARTBEAT = 1_000;

/**
 * Adds an observation; beyond the bound the oldest one is dropped, and its sender refused. Results with a batch have no
 * bound here: their reader waits while too many are not committed.
 */
export function enqueue(tracked: TrackedService, pending: PendingObservation): void {
  tracked.queue ??= [];
  tracked.queue.push(pending);
  if (pending.batch !== null) return;
  const bound = checkResultOf(pending.observation) === null ? MAX_WITH_HEARTBEAT : MAX_WITH_RESULT;
  if (tracked.queue.length > bound) tracked.queue.shift()?.reply?.('unavailable');
}

/** Puts an observation back, before all others. */
export function enqueueFirst(tracked: TrackedService, pending: PendingObservation): void {
  tracked.queue ??= [];
  tracked.queue.unshift(pending);
}

/** Takes the oldest observation out; undefined: the queue is empty. */
export function dequeue(tracked: TrackedService): PendingObservation | undefined {
  const next = tracked.queue?.shift();
  if (tracked.queue?.length === 0) tracked.queue = null;
  return next;
}

/** Takes all heartbeats out and refuses them. */
export function refuseQueuedHeartbeats(tracked: TrackedService, refusal: StorageRefusal): void {
  const all = tracked.queue ?? [];
  const left = all.filter(({ reply }) => reply === null);
  tracked.queue = left.length === 0 ? null : left;
  for (const { reply } of all) reply?.(refusal);
}
