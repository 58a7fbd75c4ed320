/** The status store in this process's memory. */
import type { CurrentStatus } from '../../domain/current.ts';
import type { Log } from '../../log.ts';
import type { StatusStore } from '../ports/status.ts';

/** Makes an empty store. `log` hears of listeners that throw; they hinder neither the store nor each other. */
export function createMemoryStatusStore({ log }: { readonly log: Log }): StatusStore {
  const records = new Map<number, CurrentStatus>();
  const listeners = new Set<(record: CurrentStatus) => void>();
  const tell = (record: CurrentStatus) => {
    for (const listener of listeners) {
      try {
        listener(record);
      } catch (error) {
        log.error({ error, serviceId: record.serviceId }, 'a status store listener failed');
      }
    }
  };
  return {
    get: (serviceId) => records.get(serviceId) ?? null,
    async put(offered) {
      let taken = 0;
      for (const record of offered) {
        if (!isNewer(record, records.get(record.serviceId))) continue;
        records.set(record.serviceId, record);
        taken++;
        tell(record);
      }
      return taken;
    },
    async remove(serviceId) {
      records.delete(serviceId);
    },
    watch(listener) {
      // Wrapped, so that a listener given twice is called twice and each stop ends its own.
      const entry = (record: CurrentStatus) => listener(record);
      listeners.add(entry);
      return () => void listeners.delete(entry);
    },
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
