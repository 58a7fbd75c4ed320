/** The writer lease inside the registry's thread: what each transaction is checked against. */
import type { LeaseHolder, LeaseRequest, LeaseState } from '../ports/lease.ts';
import { type AliveFile, openAliveFile, readAliveMark } from './alive-file.ts';
import { guardLease, leaseLost, readLease, takeLease } from './lease-rows.ts';
import type { RegistryStore } from './registry-store.ts';

/** The lease of this process, if it has one. */
export interface HeldLease {
  /** The current lease, of any holder. */
  read(): Promise<LeaseState>;
  /** The claim was written, and has this fence. */
  hold(claim: LeaseRequest, fence: number): void;
  /**
   * For a disk that takes no writes now: the lease is taken in the first transaction that it lets through, and before
   * anything else in it. Returns the fence that it will have; null: it was renewed or taken meanwhile.
   */
  claim(claim: LeaseRequest): Promise<number | null>;
  /** Marks the holder alive where the disk takes no renewal. Throws `lease_lost` where another process has it. */
  mark(fence: number, now: number): Promise<void>;
  /** The lease was given back. */
  drop(): void;
  /**
   * Runs first in each transaction: a process that lost its lease while it slept writes nothing more. Throws
   * `lease_lost`. Call the returned function after the commit.
   */
  guard(writable: RegistryStore): Promise<(() => void) | null>;
  close(): void;
}

/**
 * Makes the lease of a process that holds none yet. `dataDir` takes the signs of life of a holder whose disk takes no
 * renewals; null: the row alone tells of a holder.
 */
export function createHeldLease(store: RegistryStore, dataDir: string | null): HeldLease {
  let heldFence: number | null = null;
  let claimed: LeaseRequest | null = null;
  let holder: LeaseHolder | null = null;
  let alive: AliveFile | null = null;

  const hold = (claim: LeaseRequest, fence: number): void => {
    heldFence = fence;
    claimed = null;
    holder = claim;
    // Now, while there is room.
    alive ??= dataDir === null ? null : openAliveFile(dataDir);
  };

  return {
    async read() {
      const state = await readLease(store);
      const mark = dataDir === null ? null : readAliveMark(dataDir);
      if (mark === null) return state;
      if (mark.fence === state.fence && state.holder !== null) return { ...state, markedAt: mark.at };
      // A holder whose lease is not on disk yet.
      if (mark.fence !== state.fence + 1) return state;
      return { ...state, holder: holderOf(mark), markedAt: mark.at };
    },
    hold,
    async claim(claim) {
      const { fence, renewedAt } = await readLease(store);
      if (fence !== claim.replacing || renewedAt !== claim.renewedAt) return null;
      claimed = claim;
      holder = claim;
      alive ??= dataDir === null ? null : openAliveFile(dataDir);
      return fence + 1;
    },
    async mark(fence, now) {
      const state = await readLease(store);
      const isOurs = claimed === null ? state.fence === fence : state.fence === claimed.replacing;
      if (!isOurs) throw await leaseLost(store);
      if (holder !== null) alive?.write({ ...holderOf(holder), fence, at: now });
    },
    drop() {
      alive?.write({ fence: 0, pid: 0, host: '', at: 0 });
      heldFence = null;
      claimed = null;
    },
    async guard(writable) {
      if (claimed === null) {
        if (heldFence !== null) await guardLease(writable, heldFence);
        return null;
      }
      const claim = claimed;
      const fence = await takeLease(writable, claim);
      if (fence === null) throw await leaseLost(writable);
      return () => hold(claim, fence);
    },
    close: () => alive?.close(),
  };
}

function holderOf({ pid, host, process = null }: LeaseHolder): LeaseHolder {
  return { pid, host, process };
}
