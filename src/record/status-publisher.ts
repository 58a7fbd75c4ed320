/** Puts records into the status store, again and again where it is away: it is a projection that must catch up. */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import type { Log } from '../log.ts';
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
