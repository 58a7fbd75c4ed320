/** Port of the registry: the writer lease. Its holder is the one process that evaluates and writes statuses. */

/** The process that holds the lease. */
export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
  /** What distinguishes the process from later ones with the same id; null or absent: the system does not tell. */
  readonly process?: string | null;
}

/** The lease as other processes see it. */
export interface LeaseState {
  /** Number of the newest holder, from 1; 0: there was none yet. */
  readonly fence: number;
  /** Null: it was released, or there was none. */
  readonly holder: LeaseHolder | null;
  /** Epoch milliseconds by the holder's clock. */
  readonly renewedAt: number;
  /**
   * When the holder marked itself alive outside of the store, because the disk took no renewal; epoch milliseconds by
   * its clock; absent or 0: it did not.
   */
  readonly markedAt?: number;
}

/** A request for the lease. */
export interface LeaseRequest extends LeaseHolder {
  /** The lease is taken only if this is still its fence. */
  readonly replacing: number;
  /** And only if this is still the time of its last renewal, epoch milliseconds. */
  readonly renewedAt: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The writer lease. */
export interface LeaseStore {
  readLease(): Promise<LeaseState>;
  /** Takes the lease. Resolves with the new fence; null: another process was first. */
  takeLease(request: LeaseRequest): Promise<number | null>;
  /**
   * For a disk that takes no writes now: the lease is taken in the first transaction that succeeds. Resolves with the
   * fence that it will have; null: another process was first.
   */
  claimLease(request: LeaseRequest): Promise<number | null>;
  /** Rejects with `lease_lost`. */
  renewLease(fence: number, now: number): Promise<void>;
  /** Marks the holder alive where the disk takes no renewal. Rejects with `lease_lost`. */
  markLease(fence: number, now: number): Promise<void>;
  /** Gives the lease back, so that the next process need not wait. */
  releaseLease(fence: number): Promise<void>;
}
