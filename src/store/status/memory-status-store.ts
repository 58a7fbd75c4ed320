/** The status store in this process's memory. */
import { IdMap } from '../../async/id-map.ts';
import { createListeners } from '../../async/listeners.ts';
import { failingRegions } from '../../domain/status/agree.ts';
import { type CurrentStatus, headOf, type StatusHead } from '../../domain/status/current.ts';
import type { StatusRows } from '../../domain/status/shared-statuses.ts';
import { StatusTable } from '../../domain/status/status-table.ts';
import type { Log } from '../../log.ts';
import type { StatusCounts, StatusStore } from '../ports/status.ts';

type Counted = Pick<CurrentStatus, 'status'> & Partial<Pick<CurrentStatus, 'scope' | 'regions'>>;

/**
 * A record in the form in which another process has sent it. Nearly all records of a process that only serves are replaced
 * before anybody reads them. It fails in no region, and has no scope.
 */
export interface UnreadRecord extends StatusHead {
  readonly json: string;
  /** The record; null: it cannot be read. */
  read(): CurrentStatus | null;
}

/** The record of a service that the store holds. */
export type HeldRecord = CurrentStatus | UnreadRecord;

/** The port, and what other stores need that keep their copy in it. */
export interface MemoryStatusStore extends StatusStore {
  /** Stores a record if it is newer, as `put` does. */
  take(record: HeldRecord): boolean;
  /** The record of a service, in the form in which it got it until somebody reads it. */
  heldOf(serviceId: number): HeldRecord | null;
  keepOnly(serviceIds: ReadonlySet<number>): void;
}

/**
 * Creates a store. `rows`: an empty table for its statuses, which it may share with the record; absent: one of its own. Errors
 * of listeners are logged; they affect neither the store nor each other.
 */
export function createMemoryStatusStore({
  log,
  rows: table = new StatusTable(),
}: {
  readonly log: Log;
  readonly rows?: StatusRows;
}): MemoryStatusStore {
  const unread = new IdMap<UnreadRecord>();
  const tally = createStatusTally();
  const listeners = createListeners<[StatusHead]>((error, { serviceId }) =>
    log.error({ error, serviceId }, 'a status store listener failed'),
  );
  const storedOf = (serviceId: number) => unread.get(serviceId) ?? table.shortOf(serviceId);

  function drop(serviceId: number): void {
    tally.change(storedOf(serviceId), undefined);
    unread.delete(serviceId);
    table.delete(serviceId);
  }

  function store(record: HeldRecord): void {
    const { serviceId } = record;
    if (isUnread(record)) {
      unread.set(serviceId, record);
      table.delete(serviceId);
    } else {
      table.set(record);
      unread.delete(serviceId);
    }
  }

  function take(record: HeldRecord): boolean {
    const stored = storedOf(record.serviceId);
    if (!isNewer(record, stored)) return false;
    store(record);
    tally.change(stored, record);
    listeners.notify(toHead(record));
    return true;
  }

  return {
    get(serviceId) {
      const held = unread.get(serviceId);
      if (held === undefined) return table.get(serviceId) ?? null;
      const record = held.read();
      if (record === null) {
        log.warn({ serviceId }, 'the status of a service cannot be read; ignoring it');
        drop(serviceId);
      } else store(record);
      return record;
    },
    headOf: (serviceId) => unread.get(serviceId) ?? table.headOf(serviceId) ?? null,
    heldOf: (serviceId) => unread.get(serviceId) ?? table.get(serviceId) ?? null,
    counts: tally.counts,
    take,
    put: async (offered) => offered.filter(take).length,
    remove: async (serviceId) => drop(serviceId),
    keepOnly(serviceIds) {
      for (const stored of [unread.keys(), table.serviceIds()])
        for (const serviceId of stored) if (!serviceIds.has(serviceId)) drop(serviceId);
    },
    watch: listeners.add,
    async close() {
      listeners.clear();
    },
  };
}

/** Returns true if nobody has read the record yet. */
export function isUnread(record: HeldRecord): record is UnreadRecord {
  return 'read' in record;
}

function toHead(record: HeldRecord): StatusHead {
  return isUnread(record) ? record : headOf(record);
}

type Order = Pick<CurrentStatus, 'seq' | 'observedAt'>;

/** The order of records: by `seq`, then by `observedAt`; an equal one is not newer. */
function isNewer(record: Order, stored: Order | undefined): boolean {
  if (stored === undefined || record.seq > stored.seq) return true;
  return record.seq === stored.seq && record.observedAt > stored.observedAt;
}

/** Creates the counts of an empty store. A change costs the same with ten services as with a million. */
export function createStatusTally() {
  const byStatus = new Map<string, number>();
  const byScope = new Map<string, number>();
  const failingByRegion = new Map<string, number>();
  const counts: StatusCounts = {
    withStatus: (status) => byStatus.get(status) ?? 0,
    withScope: (scope) => byScope.get(scope) ?? 0,
    failing: () => failingByRegion,
  };

  function count(record: Counted | undefined, by: 1 | -1): void {
    if (record === undefined) return;
    add(byStatus, record.status, by);
    if (record.scope) add(byScope, record.scope, by);
    if (record.regions === undefined) return;
    for (const { region } of failingRegions(record)) add(failingByRegion, region, by);
  }

  return {
    counts,
    /** Replaces a record; undefined: there is none. */
    change(before: Counted | undefined, after: Counted | undefined): void {
      count(before, -1);
      count(after, 1);
    },
  };
}

function add(counts: Map<string, number>, label: string, by: number): void {
  const count = (counts.get(label) ?? 0) + by;
  if (count === 0) counts.delete(label);
  else counts.set(label, count);
}
