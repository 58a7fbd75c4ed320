/**
 * The statuses as the record has them and as they are published, in one table. Both are the same but for a moment: a status is
 * published when it is committed, and a preview is published alone.
 */
import type { CurrentStatus, StatusHead } from './current.ts';
import { headOf } from './current.ts';
import { StatusTable } from './status-table.ts';

/** Statuses by service, as the record uses them. */
export type StatusPlace = Pick<StatusTable, 'get' | 'set' | 'delete'>;

/** Statuses by service, as a store uses them. */
export type StatusRows = StatusPlace & Pick<StatusTable, 'shortOf' | 'headOf' | 'serviceIds'>;

/** Two maps of statuses that hold once what is equal in both. A change of one does not show in the other. */
export interface SharedStatuses {
  readonly recorded: StatusPlace;
  readonly published: StatusRows;
  /** Services that have not the same status in both. */
  readonly differing: number;
}

/** Creates two empty maps. */
export function createSharedStatuses(): SharedStatuses {
  const table = new StatusTable();
  /** Published statuses that differ from the table; null: none is published. */
  const others = new Map<number, CurrentStatus | null>();

  /** Keeps what is published, since the record is about to replace it. */
  function keepPublished(serviceId: number): void {
    if (!others.has(serviceId)) others.set(serviceId, table.get(serviceId) ?? null);
  }

  const recorded: StatusPlace = {
    get: (serviceId) => table.get(serviceId),
    set(status) {
      // An id that cannot be stored is refused before anything has changed.
      if (table.holds(status)) return;
      keepPublished(status.serviceId);
      table.set(status);
      settle(status.serviceId);
    },
    delete(serviceId) {
      keepPublished(serviceId);
      const isDeleted = table.delete(serviceId);
      settle(serviceId);
      return isDeleted;
    },
  };

  /** Forgets what is published where the table has it, too. */
  function settle(serviceId: number): void {
    const other = others.get(serviceId);
    if (other === undefined) return;
    const isEqual = other === null ? table.headOf(serviceId) === undefined : table.holds(other);
    if (isEqual) others.delete(serviceId);
  }

  const published: StatusRows = {
    get(serviceId) {
      const other = others.get(serviceId);
      return other === undefined ? table.get(serviceId) : (other ?? undefined);
    },
    shortOf(serviceId): CurrentStatus | StatusHead | undefined {
      const other = others.get(serviceId);
      return other === undefined ? table.shortOf(serviceId) : (other ?? undefined);
    },
    headOf(serviceId) {
      const other = others.get(serviceId);
      if (other === undefined) return table.headOf(serviceId);
      return other === null ? undefined : headOf(other);
    },
    set(status) {
      if (table.holds(status)) others.delete(status.serviceId);
      else others.set(status.serviceId, status);
    },
    delete(serviceId) {
      const isKnown = published.headOf(serviceId) !== undefined;
      others.set(serviceId, null);
      settle(serviceId);
      return isKnown;
    },
    *serviceIds() {
      for (const serviceId of table.serviceIds()) if (!others.has(serviceId)) yield serviceId;
      for (const [serviceId, other] of others) if (other !== null) yield serviceId;
    },
  };

  return {
    recorded,
    published,
    get differing() {
      return others.size;
    },
  };
}
