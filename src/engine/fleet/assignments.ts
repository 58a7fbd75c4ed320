/** The services of a fleet with their probe memory, which each thread hands on to its successor, and their hosts. */
import { getOrInsert } from '../../async/bounded-map.ts';
import { IdMap } from '../../async/id-map.ts';
import { createBackoff } from '../../async/retry.ts';
import { type CheckTarget, type CheckTiming, isSameCheck, timingOf } from '../../domain/check-target.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import { type CheckResult, type ProbeMemory, shareMemory } from '../../domain/result.ts';
import type { CheckDefinition } from '../../domain/service.ts';
import { dueAfterCrash, hashNumber } from '../host/phase.ts';

/** Maximum pause of a service whose attempts crash their thread again and again, unless the interval is longer. */
const MAX_WAIT_MS = HOUR_MS;

/** Creates an empty table. `usual`: the times of services that set none. Times are epoch milliseconds. */
export function createAssignments(usual: CheckTiming) {
  const targets = new TargetTable();
  const earliest = new Map<number, number>();
  /** Pauses of services in whose attempts a thread crashed since their last result. */
  const backoffs = new Map<number, ReturnType<typeof createBackoff>>();
  const forget = (serviceId: number) => {
    earliest.delete(serviceId);
    backoffs.delete(serviceId);
  };
  return {
    get size() {
      return targets.size;
    },
    get: (serviceId: number): CheckTarget | undefined => targets.get(serviceId),
    serviceIds: () => targets.keys(),
    /** The longest timeout of an attempt, milliseconds. */
    longestTimeoutMs: (): number =>
      targets
        .checks()
        .reduce((longest, check) => Math.max(longest, timingOf(check, usual).timeoutMs), usual.timeoutMs),
    /** Adds or changes a service; false: the known revision is as new. The probe memory is kept if the check stays the same. */
    put(target: CheckTarget): boolean {
      const known = targets.get(target.serviceId);
      if (known !== undefined && known.revision >= target.revision) return false;
      const updated =
        known !== undefined && isSameCheck(known, target)
          ? { ...target, memory: known.memory, lastCheckedAt: known.lastCheckedAt }
          : target;
      targets.set(updated);
      return true;
    },
    /** False: it was unknown. */
    remove(serviceId: number): boolean {
      forget(serviceId);
      return targets.delete(serviceId);
    },
    /** Updates the probe memory from results. */
    take(results: readonly CheckResult[]): void {
      for (const { serviceId, revision, startedAt, endedAt, memory, retryAfterMs } of results) {
        if (targets.revisionOf(serviceId) !== revision) continue;
        targets.setMemory(serviceId, memory);
        targets.setLastChecked(serviceId, startedAt);
        forget(serviceId);
        if (retryAfterMs !== null) earliest.set(serviceId, endedAt + retryAfterMs);
      }
    },
    /** Marks services for another check, which a successor makes if their thread ends first. */
    forgetChecks(serviceIds: readonly number[]): void {
      for (const serviceId of serviceIds) targets.setLastChecked(serviceId, null);
    },
    /**
     * Postpones services in whose attempts their thread crashed; `epoch` is the number of its life. They are checked again
     * within an interval, which doubles with each further crash until they have a result.
     */
    postpone(serviceIds: readonly number[], epoch: number, now: number): void {
      for (const serviceId of serviceIds) {
        const target = targets.get(serviceId);
        if (target === undefined) continue;
        const { intervalMs } = timingOf(target.check, usual);
        const newBackoff = () => createBackoff(intervalMs, Math.max(intervalMs, MAX_WAIT_MS));
        const waitMs = getOrInsert(backoffs, serviceId, newBackoff).next();
        earliest.set(serviceId, dueAfterCrash(serviceId, waitMs, epoch, now));
      }
    },
    /** The services among these that must not be checked before a time. */
    notBefore: (serviceIds: readonly number[]): [serviceId: number, at: number][] =>
      serviceIds.flatMap((serviceId) => {
        const at = earliest.get(serviceId);
        return at === undefined ? [] : [[serviceId, at] as [number, number]];
      }),
  };
}

/**
 * The host of a service, from 0 to `hosts` - 1, by rendezvous hashing (Thaler and Ravishankar, 1998), so that a change of
 * the number of hosts moves few services.
 */
export function chooseHost(serviceId: number, hosts: number): number {
  let best = 0;
  let bestWeight = -1;
  for (let host = 0; host < hosts; host++) {
    const weight = hashNumber(hashNumber(serviceId) ^ Math.imul(host + 1, 0x9e3779b1));
    if (weight > bestWeight) {
      best = host;
      bestWeight = weight;
    }
  }
  return best;
}

// Targets of checks as columns: 45 bytes each instead of 104 as objects, and three references for the garbage collector.

/** Rows of a chunk. */
const CHUNK = 512;

interface Chunk {
  /** Undefined: the row is empty. */
  readonly domains: (string | undefined)[];
  readonly checks: (CheckDefinition | undefined)[];
  readonly memories: (ProbeMemory | undefined)[];
  readonly revisions: Float64Array;
  /** NaN stands for null. */
  readonly lastCheckedAt: Float64Array;
  /** 0 stands for null; ids of accounts begin at 1. */
  readonly accounts: Uint32Array;
  /** 1: the service belongs to an owner. */
  readonly isOwned: Uint8Array;
  size: number;
}

/** A map from services to their targets. What it returns is equal to what was stored, but not the same object. */
export class TargetTable {
  readonly #chunks = new IdMap<Chunk>();
  #size = 0;

  /** Services with a target. */
  get size(): number {
    return this.#size;
  }

  /** Undefined: the service has no target. */
  get(serviceId: number): CheckTarget | undefined {
    const row = serviceId % CHUNK;
    const chunk = this.#chunks.get(Math.floor(serviceId / CHUNK));
    const domain = chunk?.domains[row];
    if (chunk === undefined || domain === undefined) return undefined;
    const lastCheckedAt = chunk.lastCheckedAt[row] as number;
    return {
      serviceId,
      revision: chunk.revisions[row] as number,
      domain,
      origin: chunk.isOwned[row] === 1 ? 'owner' : 'catalogue',
      accountId: chunk.accounts[row] || null,
      check: chunk.checks[row] as CheckDefinition,
      memory: chunk.memories[row] as ProbeMemory,
      lastCheckedAt: Number.isNaN(lastCheckedAt) ? null : lastCheckedAt,
    };
  }

  /** The revision of a target; undefined: the service has none. */
  revisionOf(serviceId: number): number | undefined {
    const row = serviceId % CHUNK;
    const chunk = this.#chunks.get(Math.floor(serviceId / CHUNK));
    return chunk?.domains[row] === undefined ? undefined : chunk.revisions[row];
  }

  /** Replaces the target of its service. Throws a RangeError unless that is a whole number from 0. */
  set({ serviceId, revision, domain, origin, accountId, check, memory, lastCheckedAt }: CheckTarget): void {
    if (!Number.isSafeInteger(serviceId) || serviceId < 0) throw new RangeError(`${serviceId} is not an id`);
    const number = Math.floor(serviceId / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = createChunk();
      this.#chunks.set(number, chunk);
    }
    const row = serviceId % CHUNK;
    if (chunk.domains[row] === undefined) {
      chunk.size++;
      this.#size++;
    }
    chunk.domains[row] = domain;
    chunk.checks[row] = check;
    chunk.memories[row] = shareMemory(memory);
    chunk.revisions[row] = revision;
    chunk.lastCheckedAt[row] = lastCheckedAt ?? Number.NaN;
    chunk.accounts[row] = accountId ?? 0;
    chunk.isOwned[row] = origin === 'owner' ? 1 : 0;
  }

  /** Sets when a service was last checked; null: treat it as never checked. False: it has no target. */
  setLastChecked(serviceId: number, lastCheckedAt: number | null): boolean {
    const row = serviceId % CHUNK;
    const chunk = this.#chunks.get(Math.floor(serviceId / CHUNK));
    if (chunk?.domains[row] === undefined) return false;
    chunk.lastCheckedAt[row] = lastCheckedAt ?? Number.NaN;
    return true;
  }

  /** Sets what the checks of a service have learned. False: it has no target. */
  setMemory(serviceId: number, memory: ProbeMemory): boolean {
    const row = serviceId % CHUNK;
    const chunk = this.#chunks.get(Math.floor(serviceId / CHUNK));
    if (chunk?.domains[row] === undefined) return false;
    chunk.memories[row] = shareMemory(memory);
    return true;
  }

  /** False: the service had no target. */
  delete(serviceId: number): boolean {
    const number = Math.floor(serviceId / CHUNK);
    const row = serviceId % CHUNK;
    const chunk = this.#chunks.get(number);
    if (chunk?.domains[row] === undefined) return false;
    chunk.domains[row] = undefined;
    chunk.checks[row] = undefined;
    chunk.memories[row] = undefined;
    this.#size--;
    if (--chunk.size === 0) this.#chunks.delete(number);
    return true;
  }

  /** The services with a target, in ascending order. */
  *keys(): Generator<number, void, undefined> {
    for (const [number, { domains }] of this.#chunks)
      for (let row = 0; row < CHUNK; row++) if (domains[row] !== undefined) yield number * CHUNK + row;
  }

  *checks(): Generator<CheckDefinition, void, undefined> {
    for (const { checks } of this.#chunks.values())
      for (const check of checks) if (check !== undefined) yield check;
  }
}

function createChunk(): Chunk {
  // With undefined in all places, V8 keeps them arrays without holes.
  const column = <Value>() => new Array<Value | undefined>(CHUNK).fill(undefined);
  const buffer = new ArrayBuffer(CHUNK * 21);
  return {
    domains: column(),
    checks: column(),
    memories: column(),
    revisions: new Float64Array(buffer, 0, CHUNK),
    lastCheckedAt: new Float64Array(buffer, CHUNK * 8, CHUNK),
    accounts: new Uint32Array(buffer, CHUNK * 16, CHUNK),
    isOwned: new Uint8Array(buffer, CHUNK * 20, CHUNK),
    size: 0,
  };
}

// Assigns services to one probe thread in parts, as fast as the thread takes them. A thread handles all messages that have arrived
// in one turn of its event loop, so that a million services sent at once would hold up the checks that are due meanwhile. Each
// part waits until the one before was taken: if neither of the two threads ever waited, there would be no time of two processors
// left for checks. First checks, which would take more of it than all assignments, begin behind the last part.

/** Services of one message; more would delay both event loops. */
const SERVICES_PER_MESSAGE = 500;
/** The time that the assignment of a service takes both threads, milliseconds: a million take 4 s. */
const ASSIGNMENT_MS = 0.004;
interface Job {
  readonly serviceIds: readonly number[];
  readonly spreadMs: number;
  readonly onSent: () => void;
  /** Index of the next service to send. */
  next: number;
}

export type AssignFlow = ReturnType<typeof createAssignFlow>;

/**
 * Creates an empty flow; `send` sends one message to the thread, with the services in their state at that moment. `aheadMs`: the time
 * until the others of their list are assigned.
 */
export function createAssignFlow(
  send: (serviceIds: readonly number[], spreadMs: number, aheadMs: number) => void,
) {
  const jobs: Job[] = [];
  /** A message was sent, and not confirmed. */
  let isOpen = false;

  function sendNext(): void {
    while (!isOpen) {
      const job = jobs[0];
      if (job === undefined) return;
      const end = job.next + SERVICES_PER_MESSAGE;
      isOpen = true;
      const ahead = Math.max(0, job.serviceIds.length - end);
      send(job.serviceIds.slice(job.next, end), job.spreadMs, Math.round(ahead * ASSIGNMENT_MS));
      job.next = end;
      if (end < job.serviceIds.length) continue;
      jobs.shift();
      job.onSent();
    }
  }

  return {
    /**
     * Assigns services behind all earlier ones; they are first checked within `spreadMs` milliseconds. An empty list is
     * sent too. `onSent` is called when the last message has been sent, which may be at once.
     */
    assign(serviceIds: readonly number[], spreadMs: number, onSent: () => void = () => {}): void {
      jobs.push({ serviceIds, spreadMs, onSent, next: 0 });
      sendNext();
    },
    /** The thread has taken a message. */
    confirm(): void {
      isOpen = false;
      sendNext();
    },
  };
}
