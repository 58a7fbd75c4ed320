/**
 * Port of the registry: received heartbeats, the dependencies that services report with them, and the inbox. Serving processes store
 * heartbeats in it for the monitor to evaluate, so that either side may end at any time and each heartbeat is still evaluated exactly once.
 */
import type { DependencyReport, HeartbeatKind } from '../../domain/heartbeat/heartbeat-body.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';
import type { Verdict } from '../../domain/status.ts';

/** A received heartbeat, written in the transaction of the status update that it led to. */
export interface HeartbeatWrite {
  /** The account of the API key. If the service no longer belongs to it, nothing is written. */
  readonly accountId: number;
  readonly kind: HeartbeatKind;
  /** Epoch milliseconds. */
  readonly arrivedAt: number;
  /** The timestamp in the body, epoch milliseconds; null: none. */
  readonly timestamp: number | null;
  /** True: the heartbeat is the newest report of the service. False: it is stored but does not affect the status. */
  readonly counted: boolean;
  /** Null for a start. */
  readonly verdict: Verdict | null;
  /** Largest latency reported, whole milliseconds; null: none. */
  readonly responseTimeMs: number | null;
  /** Null: the heartbeat reported no dependencies, and the known ones stay. */
  readonly dependencies: readonly DependencyReport[] | null;
  /** Pairs the start of a run with its end; null: no run is named. */
  readonly run: string | null;
  /** The body as received. */
  readonly body: string;
  /** Its ID in the inbox, if another process received it. The entry is answered in the same transaction. */
  readonly inboxId?: number;
}

export interface StoredHeartbeat extends Omit<HeartbeatWrite, 'accountId' | 'dependencies' | 'inboxId'> {
  /** From the start of the run to this heartbeat, milliseconds; null: it ends no run whose start is known. */
  readonly runMs: number | null;
}

/** The heartbeats of a service in short. */
export interface HeartbeatSummary {
  /** Number of heartbeats so far, starts included. */
  readonly count: number;
  /** Arrival of the newest one that is not a start, among the last 100, epoch milliseconds; null: there is none. */
  readonly endedAt: number | null;
  /** Duration of the run that it ended, milliseconds; null: it ended none. */
  readonly runMs: number | null;
  /** True: the newest one is a start. */
  readonly isStarted: boolean;
}

/** Text that a job sent about a run. It changes no status. */
export interface HeartbeatLog {
  /** Arrival, epoch milliseconds. */
  readonly at: number;
  /** The run that it belongs to; null: no run is named. */
  readonly run: string | null;
  /** 1 to 10,000 characters. */
  readonly text: string;
}

/** A dependency in the newest report of its service. */
export interface DependencyState extends DependencyReport {
  /** Since when the service reports this status, epoch milliseconds. */
  readonly since: number;
}

interface DependencyChange {
  readonly name: string;
  /** Null: the service stopped reporting it. */
  readonly status: Verdict | null;
  /** Epoch milliseconds. */
  readonly at: number;
}

export interface Dependencies {
  /** Arrival of the newest report, epoch milliseconds; null: there was none. */
  readonly reportedAt: number | null;
  /** The dependencies of the newest report, in its order. */
  readonly dependencies: readonly DependencyState[];
  /** Newest first. */
  readonly changes: readonly DependencyChange[];
}

/** A dependency that services currently report as failing. */
export interface FailingDependency {
  /** In lower case, since senders spell the same name in different ways. */
  readonly name: string;
  /** Number of services that report it. */
  readonly services: number;
  /** Time of the earliest of these reports, epoch milliseconds. */
  readonly since: number;
}

/** Stored heartbeats and dependencies. Heartbeats are written by `commitUpdates`. */
export interface HeartbeatStore {
  /** The last heartbeats of a service, at most 100, newest first. */
  recentHeartbeats(serviceId: number): Promise<StoredHeartbeat[]>;
  /** The summaries of these services, in their order; null: it has sent nothing. */
  summariesOf(serviceIds: readonly number[]): Promise<(HeartbeatSummary | null)[]>;
  /**
   * Stores a log of the account's service and deletes all but its last 100. Does nothing if the service was removed or
   * belongs to another account.
   */
  addHeartbeatLog(serviceId: number, accountId: number, log: HeartbeatLog): Promise<void>;
  /** The logs of a service, at most 100, newest first. */
  heartbeatLogs(serviceId: number): Promise<HeartbeatLog[]>;
  /** The dependencies that a service reports, with at most `limit` changes. */
  dependenciesOf(serviceId: number, limit: number): Promise<Dependencies>;
  /**
   * Dependencies that are reported as failing now by verified services that are not silent and whose owners publish
   * their dependencies. Ordered by the number of services, highest first, then by name.
   */
  failingDependencies(page: {
    readonly limit: number;
    readonly offset: number;
  }): Promise<FailingDependency[]>;
  /** The number of dependencies on all pages of `failingDependencies`. */
  countFailingDependencies(): Promise<number>;
}

/** A stored entry. */
export interface InboxEntry {
  /** Increases with every entry. */
  readonly id: number;
  /** `refused`: not a heartbeat, but a note that the process had to refuse heartbeats through its own fault. */
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
