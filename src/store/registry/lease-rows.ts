/** The writer lease in the database: one row whose `fence` grows with every holder. */
import type { LeaseRequest, LeaseState } from '../ports/lease.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';

/** What the lease looks like. */
export function readLease({ kysely, queries }: RegistryStore): LeaseState {
  const row = queries.first(kysely.selectFrom('lease').selectAll());
  if (row === undefined) return { fence: 0, holder: null, renewedAt: 0 };
  const holder =
    row.pid === null || row.host === null ? null : { pid: row.pid, host: row.host, process: row.process };
  return { fence: row.fence, holder, renewedAt: row.renewed_at };
}

/** Takes the lease; returns the new fence, or null if another process was first. */
export function takeLease({ kysely, queries }: RegistryStore, claim: LeaseRequest): number | null {
  const fence = claim.replacing + 1;
  const taken = queries.run(
    kysely
      .updateTable('lease')
      .set({
        fence,
        pid: claim.pid,
        host: claim.host,
        process: claim.process ?? null,
        renewed_at: claim.now,
      })
      .where('fence', '=', claim.replacing)
      .where('renewed_at', '=', claim.renewedAt),
  );
  return taken === 1 ? fence : null;
}

/** Renews the lease. Throws `lease_lost`. */
export function renewLease(store: RegistryStore, fence: number, now: number): void {
  const { kysely, queries } = store;
  const renewed = queries.run(
    kysely.updateTable('lease').set({ renewed_at: now }).where('fence', '=', fence),
  );
  if (renewed === 0) throw leaseLost(store);
}

/** Writes the row as it is: a page for the disk to take. */
export function touchLease({ database }: RegistryStore): void {
  database.exec('UPDATE lease SET renewed_at = renewed_at');
}

/** Gives the lease back, so that the next process need not wait; does nothing where it was lost. */
export function releaseLease({ kysely, queries }: RegistryStore, fence: number): void {
  queries.run(
    kysely.updateTable('lease').set({ pid: null, host: null, process: null }).where('fence', '=', fence),
  );
}

/** Throws `lease_lost` unless the lease still has this fence. */
export function guardLease(store: RegistryStore, fence: number): void {
  if (readLease(store).fence !== fence) throw leaseLost(store);
}

/** The error of a process that another one has replaced. */
export function leaseLost(store: RegistryStore): RegistryError {
  const { holder } = readLease(store);
  const who = holder === null ? 'Another process' : `Process ${holder.pid} on ${holder.host}`;
  return new RegistryError(
    'lease_lost',
    `${who} has become the monitor of this data directory, because this process was not heard of for too long; it must stop.`,
  );
}
