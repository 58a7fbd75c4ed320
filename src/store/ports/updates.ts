/** Port of the registry: status updates of services, the feed of transitions that they produce, and the end of what is out of retention. */
import type { Incident } from '../../domain/incident/incident.ts';
import type { ProbeMemory } from '../../domain/result.ts';
import type { CurrentStatus, NewTransition, Transition } from '../../domain/status/current.ts';
import type { HeartbeatWrite } from './heartbeats.ts';

/** The changes by one evaluated result, which {@link UpdateStore.commitUpdates} writes in one transaction. */
export interface StatusUpdate {
  readonly serviceId: number;
  /** The update is committed only if the stored record still has this `seq`. */
  readonly expectedSeq: number;
  /** The record after the update; its `seq` is `expectedSeq` or one more. */
  readonly current: CurrentStatus;
  /** Set if the status changed. */
  readonly transition: NewTransition | null;
  /** Of a transition: the last good check or heartbeat before it, epoch milliseconds; null or absent: not known. */
  readonly lastGoodAt?: number | null;
  /** The time at which it was evaluated, epoch milliseconds; the events of its incident carry it. */
  readonly recordedAt: number;
  /** The own incident to write or replace, by its ID. */
  readonly incident: Incident | null;
  /** The new probe memory; null: it has not changed. */
  readonly memory: ProbeMemory | null;
  /** The evaluated heartbeat, written with the update; absent: none. */
  readonly heartbeat?: HeartbeatWrite;
}

/**
 * The outcome of one update. `stale`: another writer was first; evaluate again from `current`. If `current.seq` equals the expected
 * one, the service was removed, never existed, or no longer belongs to the heartbeat's account: drop the result.
 */
export type CommitOutcome =
  | {
      readonly kind: 'committed';
      readonly transition: Transition | null;
      /** Duration of the run that the heartbeat ended, milliseconds; null: it ended none. Absent: no heartbeat. */
      readonly runMs?: number | null;
    }
  | { readonly kind: 'stale'; readonly current: CurrentStatus };

export interface TransitionReads {
  /**
   * Transitions after `position`, in order, with the current slugs of their services. Transitions of removed services are left out.
   */
  transitionsAfter(position: number, limit: number): Promise<Transition[]>;
  /** The newest position of the feed of transitions; 0: none. */
  lastTransition(): Promise<number>;
  /** The newest transitions of one service in `[from, to)`, newest first, at most 1,000. */
  transitionsOf(serviceId: number, from: number, to: number): Promise<Transition[]>;
}

export interface UpdateStore extends TransitionReads {
  /**
   * Writes updates, each by its own compare-and-set. The outcomes are in the order of the input. The deliveries of
   * webhooks and the events of alerts are written in the same transaction. Rejects for an update that contradicts itself.
   */
  commitUpdates(updates: readonly StatusUpdate[]): Promise<CommitOutcome[]>;
}

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
