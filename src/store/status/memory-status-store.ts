/** The status store in this process's memory. */
import { IdMap } from '../../async/id-map.ts';
import { createListeners } from '../../async/listeners.ts';
import { type CurrentStatus, headOf, type StatusHead } from '../../domain/current.ts';
import type { Log } from '../../log.ts';
import type { StatusStore } from '../ports/status.ts';
import { createStatusTally } from './status-tally.ts';

/**
 * A record in the form in which another process has sent it. Nearly all records of a process that only serves are replaced
 * before anybody reads them. It fails in no region, and has no scope.
 */
export interface UnreadRecord extends StatusHead {
  readonly json: string;
  /** The record; null: it cannot be read. */
  read(): CurrentStatus | null;
}

/** What the store holds of a service. */
export type HeldRecord = CurrentStatus | UnreadRecord;

/** The port, and what other stores need that keep their copy in it. */
export interface MemoryStatusStore extends StatusStore {
  /** Stores a record if it is newer, as `put` does. */
  take(record: HeldRecord): boolean;
  /** What the store holds of a service, in the form in which it got it until somebody reads it. */
  heldOf(serviceId: number): HeldRecord | null;
  /** Removes the records of all other services. */
  keepOnly(serviceIds: ReadonlySet<number>): void;
}

/** Creates an empty store. Errors of listeners are logged; they affect neither the store nor each other. */
export function createMemoryStatusStore({ log }: { readonly log: Log }): MemoryStatusStore {
  const records = new IdMap<HeldRecord>();
  const tally = createStatusTally();
  const listeners = createListeners<[StatusHead]>((error, { serviceId }) =>
    log.error({ error, serviceId }, 'a status store listener failed'),
  );
  function drop(serviceId: number): void {
    tally.change(records.get(serviceId), undefined);
    records.delete(serviceId);
  }

  function take(record: HeldRecord): boolean {
    const stored = records.get(record.serviceId);
    if (!isNewer(record, stored)) return false;
    records.set(record.serviceId, record);
    tally.change(stored, record);
    listeners.notify(toHead(record));
    return true;
  }

  return {
    get(serviceId) {
      const held = records.get(serviceId) ?? null;
      if (held === null || !isUnread(held)) return held;
      const record = held.read();
      if (record === null) {
        log.warn({ serviceId }, 'the status of a service cannot be read; ignoring it');
        drop(serviceId);
      } else records.set(serviceId, record);
      return record;
    },
    headOf(serviceId) {
      const held = records.get(serviceId);
      return held === undefined ? null : toHead(held);
    },
    heldOf: (serviceId) => records.get(serviceId) ?? null,
    counts: tally.counts,
    take,
    put: async (offered) => offered.filter(take).length,
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

/** Whether nobody has read the record yet. */
export function isUnread(record: HeldRecord): record is UnreadRecord {
  return 'read' in record;
}

function toHead(record: HeldRecord): StatusHead {
  return isUnread(record) ? record : headOf(record);
}

/** The order of records: by `seq`, then by `observedAt`; an equal one is not newer. */
function isNewer(record: HeldRecord, stored: HeldRecord | undefined): boolean {
  if (stored === undefined || record.seq > stored.seq) return true;
  return record.seq === stored.seq && record.observedAt > stored.observedAt;
}
