/** The status store in this process's memory. */
import { createListeners } from '../../async/listeners.ts';
import type { CurrentStatus } from '../../domain/current.ts';
import type { Log } from '../../log.ts';
import type { StatusStore } from '../ports/status.ts';
import { createStatusTally } from './status-tally.ts';

/** The port, and what other stores need that keep their copy in it. */
export interface MemoryStatusStore extends StatusStore {
  /** Removes the records of all other services. */
  keepOnly(serviceIds: ReadonlySet<number>): void;
}

/** Creates an empty store. Errors of listeners are logged; they affect neither the store nor each other. */
export function createMemoryStatusStore({ log }: { readonly log: Log }): MemoryStatusStore {
  const records = new Map<number, CurrentStatus>();
  const tally = createStatusTally();
  const listeners = createListeners<[CurrentStatus]>((error, { serviceId }) =>
    log.error({ error, serviceId }, 'a status store listener failed'),
  );
  function drop(serviceId: number): void {
    tally.change(records.get(serviceId), undefined);
    records.delete(serviceId);
  }

  return {
    get: (serviceId) => records.get(serviceId) ?? null,
    counts: tally.counts,
    async put(offered) {
      let taken = 0;
      for (const record of offered) {
        const stored = records.get(record.serviceId);
        if (!isNewer(record, stored)) continue;
        records.set(record.serviceId, record);
        tally.change(stored, record);
        taken++;
        listeners.notify(record);
      }
      return taken;
    },
    remove: async (serviceId) => drop(serviceId),
    keepOnly(serviceIds) {
      for (const serviceId of records.keys()) if (!serviceIds.has(serviceId)) drop(serviceId);
    },
    watch: listeners.add,
    async close() {
      listeners.clear();
    },
  };
}

/** The order of records: by `seq`, then by `observedAt`; an equal one is not newer. */
function isNewer(record: CurrentStatus, stored: CurrentStatus | undefined): boolean {
  if (stored === undefined || record.seq > stored.seq) return true;
  return record.seq === stored.seq && record.observedAt > stored.observedAt;
}
