/** Commits updates to the registry, each by compare-and-set on the service's `seq`, with retries. */
import { createBackoff } from '../async/retry.ts';
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { Verdict } from '../domain/status.ts';
import { errorCodeOf } from '../error.ts';
import type { Log } from '../log.ts';
import { refusalOf, type StorageRefusal } from '../store/ports/storage-health.ts';
import type { CommitOutcome, StatusUpdate, UpdateStore } from '../store/ports/updates.ts';
import type { ResultBatch } from './observation.ts';
import { type PendingUpdate, type TrackedService, takeNewMemory } from './tracked-services.ts';

const FIRST_RETRY_MS = 100;
const MAX_RETRY_DELAY_MS = 5_000;
/** Maximum number of attempts while the registry is unavailable and the program is stopping. */
const MAX_ATTEMPTS_AT_STOP = 3;

/** An update in flight, and its service. */
export interface ServiceUpdate {
  readonly tracked: TrackedService;
  readonly pending: PendingUpdate;
}

/**
 * The end of an update in flight. `stale`: another writer was first. `gone`: the service was removed or moved to another
 * account. `lost`: the update was dropped at stop.
 */
export type CommitEnd = CommitOutcome | { readonly kind: 'gone' | 'lost' };

/** The end of an update that was dropped at stop. */
export const LOST: CommitEnd = { kind: 'lost' };

type CommitAttempt =
  | { readonly isCommitted: true; readonly outcomes: readonly CommitOutcome[] }
  /** `refusal`: the registry refuses all writes at present; null: the attempt failed for another reason. */
  | { readonly isCommitted: false; readonly refusal: StorageRefusal | null };

export function createCommitter(registry: UpdateStore, clock: Clock, log: Log) {
  const backoff = createBackoff(FIRST_RETRY_MS, MAX_RETRY_DELAY_MS);
  let isFailing = false;
  let isStopping = false;
  let attemptsAtStop = 0;
  let endPause = (): void => {};

  return {
    /** Tries to commit a group. The outcomes are in the order of the input. Never rejects. */
    async attempt(group: readonly StatusUpdate[]): Promise<CommitAttempt> {
      try {
        const outcomes = await registry.commitUpdates(group);
        if (isFailing) log.info({}, 'the registry accepts updates again');
        isFailing = false;
        attemptsAtStop = 0;
        backoff.reset();
        return { isCommitted: true, outcomes };
      } catch (error) {
        if (!isFailing)
          log.error({ error, updates: group.length }, 'the registry accepts no updates; retrying');
        isFailing = true;
        // Others of the group may be well; the sender of a heartbeat tries again, and may be in another group then.
        const isDamaged = errorCodeOf(error) === 'registry_damaged';
        return { isCommitted: false, refusal: refusalOf(error)?.code ?? (isDamaged ? 'storage_busy' : null) };
      }
    },
    /** Waits 100 ms to 5 s before the next attempt. False: the program is stopping, and the group, of that size, is dropped. */
    async mayRetry(size: number): Promise<boolean> {
      if (isStopping) {
        attemptsAtStop += 1;
        if (attemptsAtStop < MAX_ATTEMPTS_AT_STOP) return true;
        log.error({ updates: size }, 'updates were dropped at stop');
        return false;
      }
      await new Promise<void>((resolve) => {
        const cancel = clock.after(backoff.next(), resolve);
        endPause = () => {
          cancel();
          resolve();
        };
      });
      return true;
    },
    get isFailing() {
      return isFailing;
    },
    /** Ends the current wait, because the registry accepts writes again. */
    retryNow: () => endPause(),
    /** From now on, a group is dropped after a few failed attempts. */
    stop(): void {
      isStopping = true;
      endPause();
    },
  };
}

/** The write of an update. The registry accepts it only if the service still has the state that it was evaluated from. */
export function toStatusUpdate({ tracked, pending }: ServiceUpdate): StatusUpdate {
  const { service, current: before } = tracked;
  const { current, transition, incident, heartbeat } = pending.update;
  const { memory, recordedAt } = pending;
  const update = {
    ...{ serviceId: service.id, expectedSeq: before.seq, current, transition, incident, memory, recordedAt },
    ...(transition === null ? {} : { lastGoodAt: lastGoodAt(before, transition.to) }),
  };
  return heartbeat === null ? update : { ...update, heartbeat };
}

/** The time of the latest check if it was better than `to`; null: it was not, or there was none. */
function lastGoodAt({ latest }: CurrentStatus, to: Verdict): number | null {
  const isGood = latest !== null && (latest.status === 'up' || (latest.status === 'slow' && to === 'down'));
  return isGood ? latest.checkedAt : null;
}

/** The write of the newest routine update of the service, which exists only in memory so far. `now`: epoch milliseconds. */
export function toRoutineUpdate(tracked: TrackedService, now: number): StatusUpdate {
  const { service, current } = tracked;
  const memory = takeNewMemory(tracked);
  const expectedSeq = current.seq;
  return {
    ...{ serviceId: service.id, expectedSeq, current, transition: null, incident: null, memory },
    recordedAt: now,
  };
}

/** The end of an update, by the outcome of its commit; absent: it was dropped at stop. */
export function endOf({ current }: TrackedService, outcome: CommitOutcome | undefined): CommitEnd {
  if (outcome === undefined) return LOST;
  return outcome.kind === 'stale' && outcome.current.seq <= current.seq ? { kind: 'gone' } : outcome;
}

const MAX_GROUP = 1_000;

/** Services with routine updates that are committed together. */
export interface RoutineGroup {
  readonly services: readonly TrackedService[];
  /** Released when the group, and everything collected before it, is committed. */
  readonly batches: readonly ResultBatch[];
}

export class RoutineUpdates {
  readonly #services = new Set<TrackedService>();
  /** Batches with results among these updates; held once each. */
  readonly #batches = new Set<ResultBatch>();

  add(tracked: TrackedService): void {
    this.#services.add(tracked);
  }

  /** Another update of the service includes the collected ones. */
  remove(tracked: TrackedService): void {
    this.#services.delete(tracked);
  }

  hold(batch: ResultBatch): void {
    if (this.#batches.has(batch)) return;
    this.#batches.add(batch);
    batch.hold();
  }

  /** Takes all of them, in groups for one commit each. */
  take(): RoutineGroup[] {
    const services = [...this.#services];
    const batches = [...this.#batches];
    this.#services.clear();
    this.#batches.clear();
    const groups: RoutineGroup[] = [];
    for (let at = 0; at < services.length; at += MAX_GROUP)
      groups.push({ services: services.slice(at, at + MAX_GROUP), batches: [] });
    // A separate group after all others: changes that include collected updates precede it.
    if (batches.length > 0) groups.push({ services: [], batches });
    return groups;
  }
}
