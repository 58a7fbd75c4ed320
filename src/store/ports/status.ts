/** Port of the status store: the current record of each service, read on every request. */
import type { CurrentStatus, Scope, StatusHead } from '../../domain/status/current.ts';
import type { ServiceStatus } from '../../domain/status.ts';

/** Numbers of stored records. Reading them costs the same with ten services as with a million. */
export interface StatusCounts {
  withStatus(status: ServiceStatus): number;
  /** Services that fail, by where. Zero where at most one region checks. */
  withScope(scope: Scope): number;
  /**
   * Services that fail as seen from each region that has a vote. A region in which none fails may be absent. Empty where
   * at most one region checks.
   */
  failing(): ReadonlyMap<string, number>;
}

/** The current statuses. Reads are synchronous, from a copy in the process. */
export interface StatusReads {
  /** Null: no such service. */
  get(serviceId: number): CurrentStatus | null;
  /** The head of a status, which costs less where nobody has read the status yet. Null: no such service. */
  headOf(serviceId: number): StatusHead | null;
  readonly counts: StatusCounts;
  /** Calls `listener` with the head of each record after it was stored, until the returned function is called. */
  watch(listener: (head: StatusHead) => void): () => void;
  /** Milliseconds since the copy was last known to be current. Absent: it is always current, as in the process that writes. */
  ageMs?(): number;
}

/** Stores the current statuses. */
export interface StatusWrites {
  /**
   * Stores each record that is newer by `(seq, observedAt)`; returns their number. Reads of this process find them at once.
   * Resolves when a copy elsewhere has them, or was unavailable. `isRoutine`: the copy may get them 200 ms later, and only
   * the newest one of a service; default: false.
   */
  put(records: readonly CurrentStatus[], isRoutine?: boolean): Promise<number>;
  remove(serviceId: number): Promise<void>;
}

/** A projection of the registry, which is filled from it at start. */
export interface StatusStore extends StatusReads, StatusWrites {
  close(): Promise<void>;
}

/** The status store of a monitor that judges while its services are being loaded. */
export interface LoadableStatusStore extends StatusStore {
  /**
   * Stores newer records as `put` does, without handing them on to a copy elsewhere. Called before the first `put`, if at all:
   * the first records that are put are not the whole list then.
   */
  learn(records: readonly CurrentStatus[]): void;
  /** All services were learned or put: others are dropped, here and in a copy elsewhere, which gets all records. */
  complete(): void;
}
