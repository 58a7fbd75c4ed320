/**
 * The writer lease inside the registry's thread: one row whose `fence` increases with every holder, and against which each transaction
 * is verified. While the disk refuses writes, the holder marks itself alive in a small file of a fixed size, which is overwritten in
 * place and so needs no free space. Otherwise other processes would consider a lease that cannot be renewed to be abandoned.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Cancel, type Clock, systemClock } from '../../clock.ts';
import { RegistryError } from '../database/registry-error.ts';
import type { RegistryStore } from '../database/registry-store.ts';
import type { LeaseHolder, LeaseRequest, LeaseState } from '../ports/lease.ts';

/** The interval at which the lease is renewed in the main thread's place. */
const RENEW_MS = 1_000;

/** A main thread that has not renewed the lease for this time hangs: its lease is left to expire. */
export const MAX_BUSY_MS = 15_000;

/**
 * Renews the lease while the main thread of its holder is busy. With a million services, a garbage collection or a batch of
 * results may hold the main thread for seconds on a busy machine; another process would take it for one that hangs. The
 * registry's thread, which renews in its place, ends and stops together with the process.
 */
interface LeaseKeeper {
  /** Notes that the main thread renews the lease. */
  heard(fence: number): void;
  /** Ends it, until the main thread renews again. */
  stop(): void;
}

/** Takes the lease; returns the new fence, or null if another process was first. */
export async function takeLease(
  { kysely, queries }: RegistryStore,
  { pid, host, process = null, replacing, renewedAt, now }: LeaseRequest,
): Promise<number | null> {
  const fence = replacing + 1;
  const taken = await queries.run(
    kysely
      .updateTable('lease')
      .set({ fence, pid, host, process, renewed_at: now })
      .where('fence', '=', replacing)
      .where('renewed_at', '=', renewedAt),
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

/** Writes the row unchanged, to test whether the disk accepts a page. */
export async function touchLease({ kysely, queries }: RegistryStore): Promise<void> {
  await queries.run(kysely.updateTable('lease').set((eb) => ({ renewed_at: eb.ref('renewed_at') })));
}

/** Releases the lease, so that the next process need not wait; does nothing if it was lost. */
export async function releaseLease({ kysely, queries }: RegistryStore, fence: number): Promise<void> {
  await queries.run(
    kysely.updateTable('lease').set({ pid: null, host: null, process: null }).where('fence', '=', fence),
  );
}

/** The lease of this process, if it has one. */
export type HeldLease = ReturnType<typeof createHeldLease>;

/**
 * Creates the state of a process that does not hold the lease yet. `dataDir`: directory of the file in which a holder
 * marks itself alive while the disk refuses renewals; null: only the row shows a holder.
 */
export function createHeldLease(store: RegistryStore, dataDir: string | null) {
  let heldFence: number | null = null;
  let claimed: LeaseRequest | null = null;
  let holder: LeaseHolder | null = null;
  let alive: ReturnType<typeof openAliveFile> = null;
  let keeper: LeaseKeeper | null = null;

  /** Opens the file now, while the disk has free space. */
  const keepHolder = (claim: LeaseRequest): void => {
    holder = claim;
    alive ??= dataDir === null ? null : openAliveFile(dataDir);
  };
  /** Notes that the claim was written with this fence. */
  const hold = (claim: LeaseRequest, fence: number): void => {
    heldFence = fence;
    claimed = null;
    keepHolder(claim);
  };

  return {
    hold,
    /** True if no claim waits for the first transaction that succeeds. */
    get isWritten(): boolean {
      return claimed === null;
    },
    /** The current lease, of any holder. */
    async read(): Promise<LeaseState> {
      const state = await readLease(store);
      const mark = dataDir === null ? null : readAliveMark(dataDir);
      if (mark === null) return state;
      if (mark.fence === state.fence && state.holder !== null) return { ...state, markedAt: mark.at };
      // The holder's lease is not on disk yet.
      if (mark.fence !== state.fence + 1) return state;
      return { ...state, holder: holderOf(mark), markedAt: mark.at };
    },
    /**
     * Takes the lease in the first transaction that succeeds, before anything else in it, for a disk that refuses
     * writes now. Returns the fence that it will have; null: the lease was renewed or taken meanwhile.
     */
    async claim(claim: LeaseRequest): Promise<number | null> {
      const { fence, renewedAt } = await readLease(store);
      if (fence !== claim.replacing || renewedAt !== claim.renewedAt) return null;
      claimed = claim;
      keepHolder(claim);
      return fence + 1;
    },
    /** Marks the holder alive while the disk refuses renewals. Throws `lease_lost` if another process has the lease. */
    async mark(fence: number, now: number): Promise<void> {
      const state = await readLease(store);
      const isOurs = claimed === null ? state.fence === fence : state.fence === claimed.replacing;
      if (!isOurs) throw await leaseLost(store);
      if (holder !== null) alive?.write({ ...holderOf(holder), fence, at: now });
    },
    /** Notes that the main thread renews the lease. While it is busy afterwards, `renew` does so in its place. */
    heard(fence: number, renew: (fence: number, now: number) => Promise<void>): void {
      keeper ??= createLeaseKeeper(systemClock, renew);
      keeper.heard(fence);
    },
    /** Notes that the lease was released. */
    drop(): void {
      keeper?.stop();
      alive?.write({ fence: 0, pid: 0, host: '', at: 0 });
      heldFence = null;
      claimed = null;
    },
    /**
     * Runs first in each transaction, so that a process that lost its lease while it was suspended writes nothing.
     * Throws `lease_lost`. Call the returned function after the commit.
     */
    async guard(writable: RegistryStore): Promise<(() => void) | null> {
      if (claimed === null) {
        if (heldFence !== null && (await readLease(writable)).fence !== heldFence)
          throw await leaseLost(writable);
        return null;
      }
      const claim = claimed;
      const fence = await takeLease(writable, claim);
      if (fence === null) throw await leaseLost(writable);
      return () => hold(claim, fence);
    },
    /** Renews no more in the main thread's place, because the store is about to be closed. */
    stopKeeping: () => keeper?.stop(),
    close: () => alive?.close(),
  };
}

async function readLease({ kysely, queries }: RegistryStore): Promise<LeaseState> {
  const row = await queries.first(kysely.selectFrom('lease').selectAll());
  if (row === undefined) return { fence: 0, holder: null, renewedAt: 0 };
  const { fence, pid, host, process, renewed_at: renewedAt } = row;
  return { fence, holder: pid === null || host === null ? null : { pid, host, process }, renewedAt };
}

/** The error for a process that another one has replaced. */
async function leaseLost(store: RegistryStore): Promise<RegistryError> {
  const { holder } = await readLease(store);
  const who = holder === null ? 'Another process' : `Process ${holder.pid} on ${holder.host}`;
  return new RegistryError(
    'lease_lost',
    `${who} has become the monitor of this registry, because this process was not heard of for too long; it must stop.`,
  );
}

function holderOf({ pid, host, process = null }: LeaseHolder): LeaseHolder {
  return { pid, host, process };
}

/** The content of the file. */
interface AliveMark extends LeaseHolder {
  /** Fence of the lease that the process holds, or will take as soon as the disk accepts writes. */
  readonly fence: number;
  /** Time of the mark, epoch milliseconds of the process's clock. */
  readonly at: number;
}

/** Size of the file: a block of most file systems, so that its space is allocated at creation. */
const FILE_BYTES = 4_096;

const fileOf = (dataDir: string): string => join(dataDir, 'monitor.alive');

/** Opens or creates the file; null: the disk is full or read-only. */
function openAliveFile(dataDir: string) {
  try {
    const handle = openSync(fileOf(dataDir), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      if (fstatSync(handle).size < FILE_BYTES) writeSync(handle, Buffer.alloc(FILE_BYTES), 0, FILE_BYTES, 0);
    } catch {
      closeSync(handle);
      return null;
    }
    return {
      /** Overwrites the previous mark, if the disk accepts the write. */
      write(mark: AliveMark): void {
        try {
          writeSync(handle, JSON.stringify(mark).padEnd(FILE_BYTES), 0);
        } catch {
          // Other processes continue to see the previous mark.
        }
      },
      close: () => closeSync(handle),
    };
  } catch {
    return null;
  }
}

/** The newest mark; null: there is none. */
function readAliveMark(dataDir: string): AliveMark | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8').replaceAll('\0', '')) as AliveMark;
  } catch {
    return null;
  }
}

/** Creates a keeper. `renew` renews the lease with this fence, as the main thread does. */
export function createLeaseKeeper(
  clock: Clock,
  renew: (fence: number, now: number) => Promise<unknown>,
): LeaseKeeper {
  let heardMs = Number.NEGATIVE_INFINITY;
  let held: number | null = null;
  let cancel: Cancel | null = null;
  let isRenewing = false;
  const stop = (): void => {
    cancel?.();
    cancel = null;
    held = null;
  };
  const keep = (): void => {
    const silentMs = clock.monotonic() - heardMs;
    if (held === null || isRenewing || silentMs < RENEW_MS) return;
    if (silentMs > MAX_BUSY_MS) {
      stop();
      return;
    }
    isRenewing = true;
    renew(held, clock.now())
      // The main thread notices a lost lease itself, and a full disk ends at its next renewal.
      .catch(() => undefined)
      .finally(() => {
        isRenewing = false;
      });
  };
  return {
    heard(fence) {
      heardMs = clock.monotonic();
      held = fence;
      cancel ??= clock.every(RENEW_MS, keep);
    },
    stop,
  };
}
