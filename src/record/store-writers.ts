/** The queues before the status store and the sample store: both retry while their store is unavailable. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import type { Sample } from '../domain/sample.ts';
import type { CurrentStatus } from '../domain/status/current.ts';
import type { Log } from '../log.ts';
import type { SampleAppends } from '../store/ports/samples.ts';
import type { StatusWrites } from '../store/ports/status.ts';

const RETRY_MS = 1_000;

export function createStatusWriter(store: StatusWrites, clock: Clock, log: Log) {
  /** The newest refused status of each service. Its size is bounded by the number of services. */
  const refused = new Map<number, CurrentStatus>();
  const inFlight = new Set<Promise<void>>();
  let cancelRetry: (() => void) | null = null;
  let isFailing = false;
  let isStopped = false;

  async function write(statuses: readonly CurrentStatus[], isRoutine: boolean): Promise<void> {
    try {
      await store.put(statuses, isRoutine);
      if (isFailing) log.info({}, 'the status store accepts statuses again');
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.error({ error, statuses: statuses.length }, 'the status store accepts no statuses; retrying');
      isFailing = true;
      // A status that was written meanwhile may be newer. The store itself ignores older ones.
      for (const status of statuses)
        refused.set(status.serviceId, newer(refused.get(status.serviceId), status));
      if (!isStopped) cancelRetry ??= clock.after(RETRY_MS, retry);
    }
  }

  function retry(): void {
    cancelRetry = null;
    const statuses = [...refused.values()];
    refused.clear();
    void put(statuses);
  }

  function put(statuses: readonly CurrentStatus[], isRoutine = false): Promise<void> {
    return statuses.length === 0 ? Promise.resolve() : track(write(statuses, isRoutine));
  }

  function track(work: Promise<void>): Promise<void> {
    inFlight.add(work);
    return work.finally(() => inFlight.delete(work));
  }

  return {
    /**
     * Resolves when the store has accepted the statuses, or refused them, in which case they are retried. `isRoutine`: other
     * processes may see them a little later; default: false.
     */
    put,
    remove(serviceId: number): void {
      refused.delete(serviceId);
      const removal = store.remove(serviceId).catch((error: unknown) => {
        log.error({ error, serviceId }, 'the status store could not delete a removed service');
      });
      void track(removal);
    },
    /** Resolves when nothing is in flight; statuses that the store has refused do not count. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    stop(): void {
      isStopped = true;
      cancelRetry?.();
    },
  };
}

function newer(a: CurrentStatus | undefined, b: CurrentStatus): CurrentStatus {
  if (a === undefined) return b;
  return a.seq > b.seq || (a.seq === b.seq && a.observedAt > b.observedAt) ? a : b;
}

/**
 * Maximum number of waiting samples, about 10 MiB. The oldest are dropped beyond it, so that a full disk does not stop
 * the record.
 */
const MAX_WAITING = 100_000;

/** Makes the writer of samples: one batch at a time, in order. */
export function createSampleWriter(store: SampleAppends, clock: Clock, log: Log) {
  let waiting: Sample[] = [];
  let dropped = 0;
  let isFailing = false;
  let isStopped = false;
  let endPause = (): void => {};
  const loop = createCoalescingLoop(drain);

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await store.append(batch);
        if (isFailing) log.info({}, 'samples are stored again');
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.error({ error, samples: batch.length }, 'samples could not be stored; retrying');
        isFailing = true;
        if (isStopped) continue;
        waiting = batch.concat(waiting);
        giveUpOldest();
        await new Promise<void>((resolve) => {
          const cancel = clock.after(RETRY_MS, resolve);
          endPause = () => {
            cancel();
            resolve();
          };
        });
      }
    }
  }

  function giveUpOldest(): void {
    const excess = waiting.length - MAX_WAITING;
    if (excess <= 0) return;
    waiting.splice(0, excess);
    dropped += excess;
    log.error({ samples: excess }, 'samples were dropped: the store was unavailable for too long');
  }

  return {
    /** Takes samples; the array is not used afterwards. */
    write(samples: readonly Sample[]): void {
      for (const sample of samples) waiting.push(sample);
      // The queue is truncated in steps, so that the cost per call stays low.
      if (waiting.length > MAX_WAITING * 1.1) giveUpOldest();
      void loop.run();
    },
    /** Samples that wait for the store, and those that were dropped since the start because too many waited. */
    figures: () => ({ waiting: waiting.length, dropped }),
    /** Resolves when the store has accepted all samples taken before, or they were dropped at stop. */
    idle: loop.idle,
    /** From now on, a batch that the store refuses is dropped. */
    stop(): void {
      isStopped = true;
      endPause();
    },
  };
}
