/** The writer lease inside the registry's thread: what each transaction is checked against. */
import type { LeaseHolder, LeaseRequest, LeaseState } from '../ports/lease.ts';
import { type AliveFile, openAliveFile, readAliveMark } from './alive-file.ts';
import { guardLease, leaseLost, readLease, takeLease } from './lease-rows.ts';
import type { RegistryStore } from './registry-store.ts';

/** The lease of this process, if it has one. */
export interface HeldLease {
  /** The current lease, of any holder. */
  read(): LeaseState;
  /** The claim was written, and has this fence. */
  hold(claim: LeaseRequest, fence: number): void;
  /**
   * For a disk that takes no writes now: the lease is taken in the first transaction that it lets through, and before
   * anything else in it. Returns the fence that it will have; null: it was renewed or taken meanwhile.
   */
  claim(claim: LeaseRequest): number | null;
  /** Marks the holder alive where the disk takes no renewal. Throws `lease_lost` where another process has it. */
  mark(fence: number, now: number): void;
  /** The lease was given back. */
  drop(): void;
  /**
   * Runs first in each transaction: a process that lost its lease while it slept writes nothing more. Throws
   * `lease_lost`. Call the returned function after the commit.
   */
  readonly guard: () => (() => void) | null;
  close(): void;
}

/** Makes the lease of a process that holds none yet. */
export function createHeldLease(store: RegistryStore, dataDir: string): HeldLease {
  let heldFence: number | null = null;
  let claimed: LeaseRequest | null = null;
  let holder: LeaseHolder | null = null;
  let alive: AliveFile | null = null;

  const hold = (claim: LeaseRequest, fence: number): void => {
    heldFence = fence;
    claimed = null;
    holder = claim;
    // Now, while there is room.
    alive ??= openAliveFile(dataDir);
  };

  return {
    read() {
      const state = readLease(store);
      const mark = readAliveMark(dataDir);
      if (mark === null) return state;
      if (mark.fence === state.fence && state.holder !== null) return { ...state, markedAt: mark.at };
      // A holder whose lease is not on disk yet.
      if (mark.fence !== state.fence + 1) return state;
      return { ...state, holder: holderOf(mark), markedAt: mark.at };
    },
    hold,
    claim(claim) {
      const { fence, renewedAt } = readLease(store);
      if (fence !== claim.replacing || renewedAt !== claim.renewedAt) return null;
      claimed = claim;
      holder = claim;
      alive ??= openAliveFile(dataDir);
      return fence + 1;
    },
    mark(fence, now) {
      const state = readLease(store);
      const isOurs = claimed === null ? state.fence === fence : state.fence === claimed.replacing;
      if (!isOurs) throw leaseLost(store);
      if (holder !== null) alive?.write({ ...holderOf(holder), fence, at: now });
    },
    drop() {
      alive?.write({ fence: 0, pid: 0, host: '', at: 0 });
      heldFence = null;
      claimed = null;
    },
    guard() {
      if (claimed === null) {
        if (heldFence !== null) guardLease(store, heldFence);
        return null;
      }
      const claim = claimed;
      const fence = takeLease(store, claim);
      if (fence === null) throw leaseLost(store);
      return () => hold(claim, fence);
    },
    close: () => alive?.close(),
  };
}

function holderOf({ pid, host, process = null }: LeaseHolder): LeaseHolder {
  return { pid, host, process };
}
