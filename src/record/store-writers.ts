/** The queues before the status store and the sample store: both retry while their store is unavailable. */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import type { Sample } from '../domain/sample.ts';
import type { Log } from '../log.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';

const RETRY_MS = 1_000;

/** The road to the status store. */
export interface StatusPublisher {
  /** Resolves when the store has taken the records, or refused them; then they are put again later. */
  put(records: readonly CurrentStatus[]): Promise<void>;
  remove(serviceId: number): void;
  /** Resolves when nothing is on its way; what the store refused does not count. */
  idle(): Promise<void>;
  stop(): void;
}

/** Makes the road. */
export function createStatusPublisher(
  store: Pick<StatusStore, 'put' | 'remove'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): StatusPublisher {
  /** Newest refused record of each service; bounded by the number of services. */
  const refused = new Map<number, CurrentStatus>();
  let cancelRetry: (() => void) | null = null;
  let failing = false;
  let onTheWay = 0;
  let stopped = false;
  const idlers: (() => void)[] = [];

  async function put(records: readonly CurrentStatus[]): Promise<void> {
    if (records.length === 0) return;
    onTheWay += 1;
    try {
      await store.put(records);
      if (failing) log.info({}, 'the status store accepts records again');
      failing = false;
    } catch (error) {
      if (!failing)
        log.error({ error, records: records.length }, 'the status store accepts no records; retrying');
      failing = true;
      // A record put meanwhile may be newer; the store itself refuses what is older.
      for (const record of records)
        refused.set(record.serviceId, newer(refused.get(record.serviceId), record));
      if (!stopped) cancelRetry ??= clock.after(RETRY_MS, retry);
    } finally {
      settle();
    }
  }

  function retry(): void {
    cancelRetry = null;
    const records = [...refused.values()];
    refused.clear();
    void put(records);
  }

  function settle(): void {
    onTheWay -= 1;
    if (onTheWay === 0) for (const resolve of idlers.splice(0)) resolve();
  }

  return {
    put,
    remove(serviceId) {
      refused.delete(serviceId);
      onTheWay += 1;
      store
        .remove(serviceId)
        .catch((error: unknown) =>
          log.error({ error, serviceId }, 'the status store could not delete a removed service'),
        )
        .finally(settle);
    },
    idle: () => (onTheWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
    stop() {
      stopped = true;
      cancelRetry?.();
    },
  };
}

function newer(a: CurrentStatus | undefined, b: CurrentStatus): CurrentStatus {
  if (a === undefined) return b;
  return a.seq > b.seq || (a.seq === b.seq && a.observedAt > b.observedAt) ? a : b;
}

/** About 10 MiB; beyond it the oldest are given up, for the record must not end because a disk is full. */
const MAX_WAITING = 100_000;

/** A queue before the sample store. */
export interface SampleWriter {
  /** Takes samples; the array is not used afterwards. */
  write(samples: readonly Sample[]): void;
  /** Resolves when all samples taken before were accepted by the store, or given up at stop. */
  idle(): Promise<void>;
  /** From now on a batch that the store refuses is given up. */
  stop(): void;
}

/** Makes the queue. */
export function createSampleWriter(
  store: Pick<SampleStore, 'append'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): SampleWriter {
  let waiting: Sample[] = [];
  let busy = false;
  let failing = false;
  let stopped = false;
  let retryNow: (() => void) | null = null;
  const idlers: (() => void)[] = [];

  async function drain(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await store.append(batch);
        if (failing) log.info({}, 'samples are stored again');
        failing = false;
      } catch (error) {
        if (!failing) log.error({ error, samples: batch.length }, 'samples could not be stored; retrying');
        failing = true;
        if (stopped) continue;
        waiting = batch.concat(waiting);
        giveUpOldest();
        await pause();
      }
    }
    busy = false;
    for (const resolve of idlers.splice(0)) resolve();
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const cancel = clock.after(RETRY_MS, resolve);
      retryNow = () => {
        cancel();
        resolve();
      };
    });
  }

  function giveUpOldest(): void {
    const excess = waiting.length - MAX_WAITING;
    if (excess <= 0) return;
    waiting.splice(0, excess);
    log.error({ samples: excess }, 'samples were dropped: the store was unavailable for too long');
  }

  return {
    write(samples) {
      if (samples.length === 0) return;
      for (const sample of samples) waiting.push(sample);
      // Not at every call: the queue is cut in steps, so that cutting costs little.
      if (waiting.length > MAX_WAITING * 1.1) giveUpOldest();
      if (!busy) void drain();
    },
    idle: () => (busy ? new Promise<void>((resolve) => idlers.push(resolve)) : Promise.resolve()),
    stop() {
      stopped = true;
      retryNow?.();
    },
  };
}
