/** The services of the record, each with the state that `evaluate` reads and its updates in flight. */
import { IdMap } from '../async/id-map.ts';
import { NameIndex } from '../async/name-index.ts';
import { isSameCheck, isSameTiming } from '../domain/check-target.ts';
import type { Incident } from '../domain/incident/incident.ts';
import { type CheckResult, isSameMemory, NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import { type CurrentStatus, unknownStatus } from '../domain/status/current.ts';
import type { StatusPlace } from '../domain/status/shared-statuses.ts';
import { StatusTable } from '../domain/status/status-table.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { ServiceState } from '../store/ports/services.ts';
import type { StorageRefusal } from '../store/ports/storage-health.ts';
import type { Update } from './evaluate.ts';
import { checkResultOf, type HeartbeatEnd, type Observation, type ResultBatch } from './observation.ts';

/** An observation, and the callback for its outcome. */
export interface PendingObservation {
  readonly observation: Observation;
  /** Called once with the outcome of a heartbeat; null: the observation is not a heartbeat. */
  readonly reply: ((end: HeartbeatEnd) => void) | null;
  /** The batch that the observation holds; null: no batch waits for its commit. */
  readonly batch: ResultBatch | null;
}

export interface PendingUpdate extends PendingObservation {
  readonly update: Update;
  /** The time at which it was evaluated, epoch milliseconds. */
  readonly recordedAt: number;
  /** Revision of the definition that it was evaluated for. */
  readonly revision: number;
  /** Probe memory to commit with the update; null: the registry has the newest one. */
  readonly memory: ProbeMemory | null;
}

/** One service; a {@link ServiceState} that changes. */
export interface TrackedService {
  service: Service;
  /**
   * May be ahead of the registry by routine updates of up to a second, never by a transition. It is read from a row of
   * numbers: each read makes an equal object anew.
   */
  current: CurrentStatus;
  openIncident: Incident | null;
  memory: ProbeMemory;
  /** True: the registry has an older probe memory. */
  isMemoryNew: boolean;
  /** True: the newest revision has another check, so that earlier results do not apply to it. */
  isCheckChanged: boolean;
  /** The first revision that has the check and the times of the newest one: results of it and of those since apply. */
  checkRevision: number;
  /** Arrival of the newest heartbeat that counted, epoch milliseconds; null: there was none. */
  lastArrivedAt: number | null;
  /** Newest timestamp of its heartbeats, epoch milliseconds; null: none had a timestamp. */
  newestTimestamp: number | null;
  /** The update in flight; observations wait in `queue` meanwhile. Null: there is none. */
  inFlight: PendingUpdate | null;
  /** Oldest first; null: empty. */
  queue: PendingObservation[] | null;
  /** Published instead of `current` while the registry accepts no writes; null: `current` is published. */
  preview: CurrentStatus | null;
  /** True: the service was removed; its updates in flight are dropped. */
  isRemoved: boolean;
}

export type TrackedServices = ReturnType<typeof createTrackedServices>;

/** Makes an empty table. `statuses`: where the services have their statuses; absent: in a table of their own. */
export function createTrackedServices(statuses: StatusPlace = new StatusTable()) {
  const byId = new IdMap<Tracked>();
  /** The first services of owners' domains. */
  const ofDomain = new NameIndex((id) => byId.get(id)?.service.domain);
  /** Null: must be counted again. */
  let checked: number | null = null;

  function index(tracked: TrackedService): void {
    checked = null;
    const { id, origin, domain, isFurther } = tracked.service;
    if (origin === 'owner' && isFurther !== true) ofDomain.set(domain, id);
  }

  return {
    get: (serviceId: number): TrackedService | undefined => byId.get(serviceId),
    /** The owner's first service with that domain. */
    byDomain(domain: string): TrackedService | undefined {
      const id = ofDomain.get(domain);
      return id === undefined ? undefined : byId.get(id);
    },
    /** Number of services that are checked; the others are paused or send heartbeats. */
    checkedCount(): number {
      checked ??= countChecked(byId.values());
      return checked;
    },
    add(state: ServiceState): TrackedService {
      const tracked = new Tracked(state, statuses);
      byId.set(state.service.id, tracked);
      index(tracked);
      return tracked;
    },
    /** Replaces the definition by a newer revision. False: the results of the earlier one apply to it, too. */
    revise(tracked: TrackedService, service: Service): boolean {
      const before = tracked.service;
      const applies =
        isSameCheck(before, service) &&
        isSameTiming(before.check, service.check) &&
        before.paused === service.paused;
      if (!applies) tracked.checkRevision = service.revision;
      tracked.isCheckChanged = !isSameCheck(before, service);
      if (tracked.isCheckChanged && !isSameMemory(tracked.memory, NO_MEMORY)) learn(tracked, NO_MEMORY);
      // Verdicts of other regions do not apply either, until each has checked the service again.
      if (tracked.isCheckChanged && tracked.current.regions !== undefined)
        tracked.current = { ...tracked.current, regions: [] };
      // Heartbeats of the new account may have timestamps of another clock.
      if (before.accountId !== service.accountId) tracked.newestTimestamp = null;
      ofDomain.delete(before.domain, before.id);
      tracked.service = service;
      index(tracked);
      return !applies;
    },
    remove(tracked: TrackedService): void {
      const { id, domain } = tracked.service;
      tracked.isRemoved = true;
      checked = null;
      if (byId.get(id) === tracked) {
        byId.get(id)?.leaveTable();
        ofDomain.delete(domain, id);
        byId.delete(id);
        statuses.delete(id);
      }
    },
  };
}

/** Bits of what few services have at a time. */
const IS_MEMORY_NEW = 1;
const IS_CHECK_CHANGED = 2;
const IS_REMOVED = 4;

/** The parts that few services have at a time: an outage, heartbeats, an update in flight. */
interface RareParts {
  openIncident: Incident | null;
  lastArrivedAt: number | null;
  newestTimestamp: number | null;
  inFlight: PendingUpdate | null;
  queue: PendingObservation[] | null;
  preview: CurrentStatus | null;
}

const NO_PARTS: Readonly<RareParts> = {
  openIncident: null,
  lastArrivedAt: null,
  newestTimestamp: null,
  inFlight: null,
  queue: null,
  preview: null,
};

/**
 * A service whose status is in a table and whose rare parts are aside, since there may be a million of them. It has no methods
 * with `#`, which take eight bytes of each object.
 */
class Tracked implements TrackedService {
  service: Service;
  memory: ProbeMemory;
  checkRevision: number;
  #flags = 0;
  /** Null: it has none. */
  #rare: RareParts | null = null;
  #statuses: Pick<StatusPlace, 'get' | 'set'>;

  constructor(state: ServiceState, statuses: StatusPlace) {
    this.service = state.service;
    this.memory = state.memory;
    this.checkRevision = state.service.revision;
    this.#statuses = statuses;
    this.current = state.current;
    this.openIncident = state.openIncident;
    this.lastArrivedAt = state.lastArrivedAt ?? null;
    this.newestTimestamp = state.newestTimestamp ?? null;
  }

  get current(): CurrentStatus {
    return this.#statuses.get(this.service.id) ?? unknownStatus(this.service.id);
  }

  set current(current: CurrentStatus) {
    this.#statuses.set(current);
  }

  get isMemoryNew(): boolean {
    return (this.#flags & IS_MEMORY_NEW) !== 0;
  }

  set isMemoryNew(is: boolean) {
    this.setFlag(IS_MEMORY_NEW, is);
  }

  get isCheckChanged(): boolean {
    return (this.#flags & IS_CHECK_CHANGED) !== 0;
  }

  set isCheckChanged(is: boolean) {
    this.setFlag(IS_CHECK_CHANGED, is);
  }

  get isRemoved(): boolean {
    return (this.#flags & IS_REMOVED) !== 0;
  }

  set isRemoved(is: boolean) {
    this.setFlag(IS_REMOVED, is);
  }

  get openIncident(): Incident | null {
    return this.parts.openIncident;
  }

  set openIncident(openIncident: Incident | null) {
    this.setPart('openIncident', openIncident);
  }

  get lastArrivedAt(): number | null {
    return this.parts.lastArrivedAt;
  }

  set lastArrivedAt(lastArrivedAt: number | null) {
    this.setPart('lastArrivedAt', lastArrivedAt);
  }

  get newestTimestamp(): number | null {
    return this.parts.newestTimestamp;
  }

  set newestTimestamp(newestTimestamp: number | null) {
    this.setPart('newestTimestamp', newestTimestamp);
  }

  get inFlight(): PendingUpdate | null {
    return this.parts.inFlight;
  }

  set inFlight(inFlight: PendingUpdate | null) {
    this.setPart('inFlight', inFlight);
  }

  get queue(): PendingObservation[] | null {
    return this.parts.queue;
  }

  set queue(queue: PendingObservation[] | null) {
    this.setPart('queue', queue);
  }

  get preview(): CurrentStatus | null {
    return this.parts.preview;
  }

  set preview(preview: CurrentStatus | null) {
    this.setPart('preview', preview);
  }

  /** From now on the service has its status alone: updates in flight still read it after the removal. */
  leaveTable(): void {
    let { current } = this;
    this.#statuses = {
      get: () => current,
      set(next) {
        current = next;
      },
    };
  }

  private get parts(): Readonly<RareParts> {
    return this.#rare ?? NO_PARTS;
  }

  private setPart<Name extends keyof RareParts>(name: Name, value: RareParts[Name]): void {
    if (this.#rare === null) {
      if (value === null) return;
      this.#rare = { ...NO_PARTS };
    }
    this.#rare[name] = value;
    if (value === null && Object.values(this.#rare).every((part) => part === null)) this.#rare = null;
  }

  private setFlag(bit: number, is: boolean): void {
    this.#flags = is ? this.#flags | bit : this.#flags & ~bit;
  }
}

/** The state of a service at this moment, which does not change while it is evaluated. */
export function stateOf(tracked: TrackedService): ServiceState {
  const { service, current, memory, openIncident, newestTimestamp, lastArrivedAt } = tracked;
  return { service, current, memory, openIncident, newestTimestamp, lastArrivedAt };
}

function countChecked(all: Iterable<TrackedService>): number {
  let count = 0;
  for (const { service } of all) if (!service.paused && service.check.kind !== 'heartbeat') count += 1;
  return count;
}

/**
 * Returns true if the result belongs to the current check of the service. What changes something else, such as a name, leaves
 * it valid.
 */
export function isOfRevision(
  { service, isRemoved, checkRevision }: TrackedService,
  { revision }: CheckResult,
): boolean {
  return !isRemoved && !service.paused && revision >= checkRevision && revision <= service.revision;
}

export function learn(tracked: TrackedService, memory: ProbeMemory): void {
  tracked.memory = memory;
  tracked.isMemoryNew = true;
}

/** Takes the probe memory that the next commit must write; null: the registry has it. */
export function takeNewMemory(tracked: TrackedService): ProbeMemory | null {
  if (!tracked.isMemoryNew) return null;
  tracked.isMemoryNew = false;
  return tracked.memory;
}

export function noteHeartbeat(tracked: TrackedService, heartbeat: HeartbeatWrite): void {
  const { counted, kind, arrivedAt, timestamp } = heartbeat;
  if (!counted) return;
  tracked.lastArrivedAt = Math.max(arrivedAt, tracked.lastArrivedAt ?? arrivedAt);
  if (timestamp !== null && kind !== 'start')
    tracked.newestTimestamp = Math.max(timestamp, tracked.newestTimestamp ?? timestamp);
}

/** Maximum number of queued observations of a service whose newest one is a result; bounds the memory. */
const MAX_WITH_RESULT = 16;
/** Maximum number of queued observations of a service whose newest one is a heartbeat, whose sender waits. */
const MAX_WITH_HEARTBEAT = 1_000;

/**
 * Adds an observation. Beyond the bound, the oldest one is dropped and its sender refused. Results with a batch are neither counted as
 * new nor dropped here, because their reader waits while too many are not committed. Returns whether one was dropped.
 */
export function enqueue(tracked: TrackedService, pending: PendingObservation): boolean {
  tracked.queue ??= [];
  tracked.queue.push(pending);
  if (pending.batch !== null) return false;
  const bound = checkResultOf(pending.observation) === null ? MAX_WITH_HEARTBEAT : MAX_WITH_RESULT;
  if (tracked.queue.length <= bound) return false;
  const oldest = tracked.queue.findIndex(({ batch }) => batch === null);
  tracked.queue.splice(oldest, 1)[0]?.reply?.('unavailable');
  return true;
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

export function refuseQueuedHeartbeats(tracked: TrackedService, refusal: StorageRefusal): void {
  const all = tracked.queue ?? [];
  const left = all.filter(({ reply }) => reply === null);
  tracked.queue = left.length === 0 ? null : left;
  for (const { reply } of all) reply?.(refusal);
}
