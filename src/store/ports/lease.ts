/** Port of the registry: the writer lease. Its holder is the one process that evaluates and writes statuses. */

export interface LeaseHolder {
  readonly pid: number;
  readonly host: string;
  /** Distinguishes the process from later ones with the same ID; null or absent: the system does not provide it. */
  readonly process?: string | null;
}

export interface LeaseState {
  /** Number of the newest holder, from 1; 0: there has been no holder yet. */
  readonly fence: number;
  /** Null: the lease was released, or never taken. */
  readonly holder: LeaseHolder | null;
  /** Epoch milliseconds by the holder's clock. */
  readonly renewedAt: number;
  /**
   * Time at which the holder marked itself alive outside of the store because the disk refused a renewal, epoch
   * milliseconds by its clock; absent or 0: it did not.
   */
  readonly markedAt?: number;
}

export interface LeaseRequest extends LeaseHolder {
  /** The lease is taken only if its fence still has this value. */
  readonly replacing: number;
  /** The lease is taken only if its last renewal is still at this time, epoch milliseconds. */
  readonly renewedAt: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface LeaseStore {
  readLease(): Promise<LeaseState>;
  /** Takes the lease. Resolves with the new fence; null: another process was first. */
  takeLease(request: LeaseRequest): Promise<number | null>;
  /**
   * Takes the lease in the first transaction that succeeds, for a disk that refuses writes now. Resolves with the fence
   * that it will have; null: another process was first.
   */
  claimLease(request: LeaseRequest): Promise<number | null>;
  /** Renews the lease. Rejects with `lease_lost`. */
  renewLease(fence: number, now: number): Promise<void>;
  /** Marks the holder alive while the disk refuses renewals. Rejects with `lease_lost`. */
  markLease(fence: number, now: number): Promise<void>;
  /** Releases the lease, so that the next process need not wait. */
  releaseLease(fence: number): Promise<void>;
}
