/** What the record keeps in memory of one service. */
import type { CurrentStatus } from '../domain/current.ts';
import type { Incident } from '../domain/incident.ts';
import type { ProbeMemory } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { ServiceState } from '../store/ports/services.ts';
import type { StatusUpdate } from '../store/ports/updates.ts';
import type { Observation } from './observation.ts';

/** A change that is on its way to the registry, with what it was judged from. */
export interface PendingChange {
  readonly judgement: StatusUpdate;
  readonly observation: Observation;
}

/** One service of the record. */
export interface Entry {
  service: Service;
  /** Newest record; ahead of the registry by plain checks of up to a second, never by a transition. */
  current: CurrentStatus;
  /** Own incident that is not resolved; null: none. */
  incident: Incident | null;
  memory: ProbeMemory;
  /** The memory is newer than the registry's. */
  memoryChanged: boolean;
  /** The newest change of the definition changed how it is checked: what was found before says nothing of that. */
  checkChanged: boolean;
  /** It has sent a heartbeat that counted, so that its silence says something. */
  hasReported: boolean;
  /** When the newest heartbeat that counted arrived, epoch milliseconds; null: there was none. */
  heardAt: number | null;
  /** Newest timestamp of its heartbeats, epoch milliseconds; null: none had one. */
  toldAt: number | null;
  /** Set while a change is being written; what comes waits in `queue` meanwhile, so that their order is kept. */
  pending: PendingChange | null;
  /** Oldest first; null: empty. */
  queue: Observation[] | null;
  /** What is shown of the service while the registry takes no writes; null: the newest record. */
  shown: CurrentStatus | null;
  /** The service is gone; what is still on its way for it is dropped. */
  removed: boolean;
}

/** Takes a service's state over from the registry. */
export function createEntry({
  service,
  current,
  memory,
  openIncident,
  toldAt,
  heardAt,
}: ServiceState): Entry {
  return {
    service,
    current,
    incident: openIncident,
    memory,
    memoryChanged: false,
    checkChanged: false,
    hasReported: (heardAt ?? null) !== null,
    heardAt: heardAt ?? null,
    toldAt: toldAt ?? null,
    pending: null,
    queue: null,
    shown: null,
    removed: false,
  };
}

/** The judgement that writes `current` as it is: a check that changed nothing but the newest check. */
export function plainJudgement(entry: Entry): StatusUpdate {
  return {
    serviceId: entry.current.serviceId,
    expectedSeq: entry.current.seq,
    current: entry.current,
    transition: null,
    incident: null,
    memory: takeMemory(entry),
  };
}

/** The memory to write with the next judgement; null: the registry has it. */
export function takeMemory(entry: Entry): ProbeMemory | null {
  if (!entry.memoryChanged) return null;
  entry.memoryChanged = false;
  return entry.memory;
}

/** Keeps what the prober learnt; most checks teach nothing. */
export function learn(entry: Entry, memory: ProbeMemory): void {
  const known = entry.memory;
  if (
    known.needsGet === memory.needsGet &&
    known.headSeen === memory.headSeen &&
    known.healthSeen === memory.healthSeen &&
    known.askHealthAt === memory.askHealthAt
  )
    return;
  entry.memory = memory;
  entry.memoryChanged = true;
}
