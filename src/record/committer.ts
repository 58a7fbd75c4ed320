/** Commits updates to the registry, each by compare-and-set on the service's `seq`, with retries. */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { refusalOf, type StorageRefusal } from '../store/ports/storage-health.ts';
import type { CommitOutcome, StatusUpdate, UpdateStore } from '../store/ports/updates.ts';
import { type PendingUpdate, type TrackedService, takeNewMemory } from './tracked-services.ts';

const FIRST_RETRY_MS = 100;
const MAX_RETRY_DELAY_MS = 5_000;
/** Attempts for an unavailable registry while the program stops. */
const MAX_ATTEMPTS_AT_STOP = 3;

/** An update in flight, and its service. */
export interface ServiceUpdate {
  readonly tracked: TrackedService;
  readonly pending: PendingUpdate;
}

/** How one attempt ended. */
export type CommitAttempt =
  | { readonly isCommitted: true; readonly outcomes: readonly CommitOutcome[] }
  /** `refusal`: the registry takes no writes at present; null: it failed in another way. */
  | { readonly isCommitted: false; readonly refusal: StorageRefusal | null };

/** The way to the registry. */
export interface Committer {
  /** Tries to commit a group. The outcomes stand in the order of the input. Never rejects. */
  attempt(group: readonly StatusUpdate[]): Promise<CommitAttempt>;
  /** Waits before the next attempt, 100 ms to 5 s; false: the program stops, and the group of that size is given up. */
  mayRetry(size: number): Promise<boolean>;
  /** The newest attempt failed. */
  readonly isFailing: boolean;
  /** The registry takes writes again: ends the waiting. */
  retryNow(): void;
  /** A registry that fails is given up after a few attempts from now on. */
  stop(): void;
}

/** Makes the committer. */
export function createCommitter(
  registry: Pick<UpdateStore, 'commitUpdates'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): Committer {
  let failures = 0;
  let isStopping = false;
  let attemptsAtStop = 0;
  let endPause = (): void => {};

  return {
    async attempt(group) {
      try {
        const outcomes = await registry.commitUpdates(group);
        if (failures > 0) log.info({}, 'the registry accepts updates again');
        failures = 0;
        attemptsAtStop = 0;
        return { isCommitted: true, outcomes };
      } catch (error) {
        if (failures === 0)
          log.error({ error, updates: group.length }, 'the registry accepts no updates; retrying');
        failures += 1;
        return { isCommitted: false, refusal: refusalOf(error)?.code ?? null };
      }
    },
    async mayRetry(size) {
      if (isStopping) {
        attemptsAtStop += 1;
        if (attemptsAtStop < MAX_ATTEMPTS_AT_STOP) return true;
        log.error({ updates: size }, 'updates were dropped at stop');
        return false;
      }
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_DELAY_MS);
      await new Promise<void>((resolve) => {
        const cancel = clock.after(delayMs, resolve);
        endPause = () => {
          cancel();
          resolve();
        };
      });
      return true;
    },
    get isFailing() {
      return failures > 0;
    },
    retryNow: () => endPause(),
    stop() {
      isStopping = true;
      endPause();
    },
  };
}

/** What commits an update of a service whose state it was evaluated from. */
export function toStatusUpdate({ tracked, pending }: ServiceUpdate): StatusUpdate {
  const { service, current: before } = tracked;
  const { current, transition, incident, heartbeat } = pending.update;
  const { memory } = pending;
  const update = { serviceId: service.id, expectedSeq: before.seq, current, transition, incident, memory };
  return heartbeat === null ? update : { ...update, heartbeat };
}

/** What commits the routine updates of the service that are only in memory. */
export function toRoutineUpdate(tracked: TrackedService): StatusUpdate {
  const { service, current } = tracked;
  const memory = takeNewMemory(tracked);
  const expectedSeq = current.seq;
  return { serviceId: service.id, expectedSeq, current, transition: null, incident: null, memory };
}
