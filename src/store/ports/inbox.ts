/**
 * Port of the registry: the inbox. Serving processes store heartbeats here for the monitor to evaluate, so that either
 * side may end at any time and each heartbeat is still evaluated exactly once.
 */
import type { HeartbeatKind } from '../../domain/heartbeat/heartbeat-body.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';

/** A stored entry. */
export interface InboxEntry {
  /** Increases with every entry. */
  readonly id: number;
  /** `refused`: not a heartbeat, but a note that the process had to refuse heartbeats because of its own fault. */
  readonly kind: HeartbeatKind | 'refused';
  /** The account of the API key; 0 for `refused`. */
  readonly accountId: number;
  /** Epoch milliseconds of the clock that all processes share. */
  readonly arrivedAt: number;
  /** The body as received. */
  readonly body: string;
}

/** The outcome of an entry. */
export type InboxAnswer =
  | {
      /** The heartbeat was evaluated and stored. */
      readonly kind: 'written';
      readonly serviceId: number;
      /** The record of the service after it. */
      readonly current: CurrentStatus;
      /** Largest latency reported, whole milliseconds; null: none. */
      readonly responseTimeMs: number | null;
      /** Duration of the run that the heartbeat ended, milliseconds; null: it ended none. */
      readonly runMs: number | null;
    }
  | {
      /** The heartbeat was refused, with code and message of the registry's error. Both are empty for a `refused` entry. */
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
    };

/** An entry that is not stored yet. */
export type NewInboxEntry = Omit<InboxEntry, 'id'>;

export interface InboxStore {
  /** Stores an entry; resolves with its id once it is on disk. */
  putInInbox(entry: NewInboxEntry): Promise<number>;
  /** Entries without an answer whose id is greater than `after`, oldest first, at most 200. */
  openInInbox(after: number): Promise<InboxEntry[]>;
  /** Answers an entry; the first answer stays. `commitUpdates` answers entries of evaluated heartbeats. */
  answerInInbox(id: number, answer: InboxAnswer): Promise<void>;
  /** The answers to these entries that exist so far. */
  inboxAnswers(
    ids: readonly number[],
  ): Promise<readonly { readonly id: number; readonly answer: InboxAnswer }[]>;
  /**
   * Deletes answered entries that arrived before `before`, epoch milliseconds, among the oldest 20,000. Resolves with their number.
   */
  forgetInbox(before: number): Promise<number>;
  /** Calls `listener` after commits of other processes, within 50 ms, until the returned function is called. */
  watchOtherProcesses(listener: () => void): () => void;
}
