/** Port of the status store: the current record of each service, read on every request. */
import type { CurrentStatus } from '../../domain/current.ts';

/** A projection of the registry, refilled from it at start. Reads are synchronous: from a copy in the process. */
export interface StatusStore {
  /** Null: no such service. */
  get(serviceId: number): CurrentStatus | null;
  /** Takes each record that is newer by `(seq, observedAt)`; returns how many were. */
  put(records: readonly CurrentStatus[]): Promise<number>;
  /** Forgets a removed service. */
  remove(serviceId: number): Promise<void>;
  /** Calls `listener` after each record that was taken, until the returned function is called. */
  watch(listener: (record: CurrentStatus) => void): () => void;
  /** Milliseconds since the copy was known to be current. Absent: it always is, as that of the process that writes. */
  ageMs?(): number;
  close(): Promise<void>;
}
