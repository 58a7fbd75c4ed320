/** The writer lease in the database: one row whose `fence` grows with every holder. */
import type { LeaseRequest, LeaseState } from '../ports/lease.ts';
import { RegistryError } from './registry-error.ts';
import type { RegistryStore } from './registry-store.ts';

/** What the lease looks like. */
export async function readLease({ kysely, queries }: RegistryStore): Promise<LeaseState> {
  const row = await queries.first(kysely.selectFrom('lease').selectAll());
  if (row === undefined) return { fence: 0, holder: null, renewedAt: 0 };
  const holder =
    row.pid === null || row.host === null ? null : { pid: row.pid, host: row.host, process: row.process };
  return { fence: row.fence, holder, renewedAt: row.renewed_at };
}

/** Takes the lease; returns the new fence, or null if another process was first. */
export async function takeLease(
  { kysely, queries }: RegistryStore,
  claim: LeaseRequest,
): Promise<number | null> {
  const fence = claim.replacing + 1;
  const taken = await queries.run(
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
export async function renewLease(store: RegistryStore, fence: number, now: number): Promise<void> {
  const { kysely, queries } = store;
  const renewed = await queries.run(
    kysely.updateTable('lease').set({ renewed_at: now }).where('fence', '=', fence),
  );
  if (renewed === 0) throw await leaseLost(store);
}

/** Writes the row as it is: a page for the disk to take. */
export async function touchLease({ kysely, queries }: RegistryStore): Promise<void> {
  await queries.run(kysely.updateTable('lease').set((eb) => ({ renewed_at: eb.ref('renewed_at') })));
}

/** Gives the lease back, so that the next process need not wait; does nothing where it was lost. */
export async function releaseLease({ kysely, queries }: RegistryStore, fence: number): Promise<void> {
  await queries.run(
    kysely.updateTable('lease').set({ pid: null, host: null, process: null }).where('fence', '=', fence),
  );
}

/** Throws `lease_lost` unless the lease still has this fence. */
export async function guardLease(store: RegistryStore, fence: number): Promise<void> {
  if ((await readLease(store)).fence !== fence) throw await leaseLost(store);
}

/** The error of a process that another one has replaced. */
export async function leaseLost(store: RegistryStore): Promise<RegistryError> {
  const { holder } = await readLease(store);
  const who = holder === null ? 'Another process' : `Process ${holder.pid} on ${holder.host}`;
  return new RegistryError(
    'lease_lost',
    `${who} has become the monitor of this registry, because this process was not heard of for too long; it must stop.`,
  );
}
