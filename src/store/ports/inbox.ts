/**
 * The part of the registry's port by which processes that only serve hand heartbeats to the monitor, the one judge: on
 * disk before anything else, so that neither of the two may end without harm, and judged once.
 */
import type { CurrentStatus } from '../../domain/current.ts';
import type { HeartbeatKind } from '../../domain/heartbeat-body.ts';

/** What was handed in. */
export interface InboxEntry {
  /** Grows with every entry. */
  readonly id: number;
  /** `refused`: no heartbeat, but word that the process had to refuse some by a fault of our own. */
  readonly kind: HeartbeatKind | 'refused';
  /** The account whose key it came with; 0 for `refused`. */
  readonly accountId: number;
  /** Epoch milliseconds. */
  readonly arrivedAt: number;
  /** As it was received. */
  readonly body: string;
}

/** What became of an entry. */
export type InboxAnswer =
  | {
      /** It was judged, and is written. */
      readonly kind: 'written';
      readonly serviceId: number;
      /** The record of the service after it. */
      readonly current: CurrentStatus;
      /** Largest latency reported, whole milliseconds; null: none. */
      readonly responseTimeMs: number | null;
      /** How long the run has lasted that it ended, milliseconds; null: it ended none. */
      readonly runMs: number | null;
    }
  | {
      /** It was not taken; code and sentence of the registry's error. Both are empty for word of a refusal. */
      readonly kind: 'refused';
      readonly code: string;
      readonly message: string;
    };

/** The inbox. */
export interface HeartbeatInbox {
  /** Puts an entry in; resolves with its number when it is on disk. */
  putInInbox(entry: Omit<InboxEntry, 'id'>): Promise<number>;
  /** Entries without an answer whose number is greater than `after`, oldest first, at most 200. */
  openInInbox(after: number): Promise<InboxEntry[]>;
  /** Answers an entry; the first answer stays. Those of judged heartbeats are written with their judgement. */
  answerInInbox(id: number, answer: InboxAnswer): Promise<void>;
  /** The answers that there are to these entries. */
  inboxAnswers(
    ids: readonly number[],
  ): Promise<readonly { readonly id: number; readonly answer: InboxAnswer }[]>;
  /** Of the oldest 20,000 entries, forgets the answered ones that arrived before `before`, epoch ms; returns how many. */
  forgetInbox(before: number): Promise<number>;
  /** Calls `listener` after commits of other processes, within 50 ms, until the returned function is called. */
  watchOtherProcesses(listener: () => void): () => void;
}
