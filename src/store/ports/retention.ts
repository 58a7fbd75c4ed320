/** Port of the registry: the end of what is out of retention. */

/** The counts of deleted rows. */
interface Forgotten {
  readonly incidents: number;
  readonly transitions: number;
  /** Position of the feed of transitions from which the next call continues; null: nothing older remains. */
  readonly position: number | null;
}

/** Deletes old incidents and transitions. */
export interface RetentionStore {
  /** Time of the newest observation of any service, epoch milliseconds; null: there was none. */
  newestObservation(): Promise<number | null>;
  /**
   * Deletes some of the incidents that were resolved before `before`, and of the transitions after `position` that were
   * recorded before it, so that a call never takes long. Never deletes an incident that is not resolved, nor the latest
   * transition of a service. An incident that a vendor still lists does not come back.
   */
  forgetOld(before: number, position: number): Promise<Forgotten>;
}
