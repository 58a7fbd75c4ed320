/** Port of the registry: rules, the feed of events, and what was decided about them. */
import type { ChannelKind } from '../../domain/alert/channel.ts';
import type { AlertEvent } from '../../domain/alert/event.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { AlertRule } from '../../domain/alert/rule.ts';

/** Maximum number of rules of an account. */
export const MAX_RULES = 100;

/** The properties of a rule that a change replaces. Absent properties stay unchanged. */
export type RuleEdit = Partial<Omit<AlertRule, 'id' | 'accountId' | 'createdAt' | 'revision'>>;

export interface LoadedRules {
  readonly version: number;
  readonly rules: readonly AlertRule[];
  readonly channels: readonly {
    readonly id: number;
    readonly accountId: number;
    readonly kind: ChannelKind;
  }[];
}

/** Rules. An account sees only its own; those of others count as missing. */
export interface RuleStore {
  /** Adds a rule. Rejects with `account_limit` ({@link MAX_RULES}) or `name_taken`. */
  addRule(rule: Omit<AlertRule, 'id' | 'revision'>): Promise<AlertRule>;
  /** Ordered by name. */
  rulesOf(accountId: number): Promise<AlertRule[]>;
  /** Changes a rule. Rejects with `not_found`, `name_taken`, and `stale` as {@link ChannelStore.changeChannel}. */
  changeRule(
    accountId: number,
    id: number,
    edit: RuleEdit,
    revisions?: readonly number[],
  ): Promise<AlertRule>;
  /** Removes a rule. Rejects as {@link changeRule}. */
  removeRule(accountId: number, id: number, revisions?: readonly number[]): Promise<void>;
  /**
   * All rules that are enabled, with those of their channels that belong to their account; all channels; and a number that
   * changes whenever one of them, or a page that a rule names, changes.
   */
  loadRules(): Promise<LoadedRules>;
  /** The number of {@link loadRules} alone. */
  rulesVersion(): Promise<number>;
}

/** The engine's memory of an account, as the pure functions of `domain/alert/` made it. */
export interface StoredAlertState {
  readonly accountId: number;
  /** JSON. */
  readonly state: string;
  /** The time at which it has to be looked at without an event, epoch milliseconds; null: never. */
  readonly dueAt: number | null;
}

export interface DecidedMessage {
  readonly channelId: number;
  readonly message: AlertMessage;
  /** The rule let it wait, so that the time to its delivery is not measured. Absent: it did not. */
  readonly isDelayed?: boolean;
}

/** A decision: all of it is written in one transaction. */
export interface AlertDecision {
  /** The position of the last event that it takes into account; the events up to it are never read again. */
  readonly position: number;
  readonly states: readonly StoredAlertState[];
  readonly messages: readonly DecidedMessage[];
  /** Acknowledgements that it takes into account. */
  readonly acknowledgements: readonly number[];
  /** The number of {@link RuleStore.loadRules} of the rules that it was made with. */
  readonly rulesVersion: number;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** A person says that he or she has taken an alert. */
export interface Acknowledgement {
  readonly id: number;
  readonly accountId: number;
  readonly thread: string;
  /** Name of the person; empty: by the link in a message. */
  readonly by: string;
  /** Epoch milliseconds. */
  readonly at: number;
}

/** The feed of events and what was decided. Only the monitor decides. */
export interface AlertStore {
  /** Events after `position`, in order, at most `limit`. */
  alertEventsAfter(position: number, limit: number): Promise<AlertEvent[]>;
  /** The position of the last decision, and the states of all accounts that have one. */
  loadAlertStates(): Promise<{ readonly position: number; readonly states: readonly StoredAlertState[] }>;
  /**
   * Writes a decision. False: rules were changed or accounts were merged meanwhile, so that nothing was written; it is decided
   * again from what {@link loadAlertStates} returns then. Messages to channels that were removed, belong to another account than
   * their rule, or have not agreed, are left out.
   */
  commitAlerts(decision: AlertDecision): Promise<boolean>;
  /** The engine's memory of an account, null: none, and the newest acknowledgements, at most 100. */
  alertsOf(
    accountId: number,
  ): Promise<{ readonly state: string | null; readonly acknowledgements: readonly Acknowledgement[] }>;
  /** The account whose channels have messages of the thread: that which made it, or the one it was merged into. Null: none. */
  accountOfThread(thread: string): Promise<number | null>;
  /** Adds an acknowledgement; false: there is no such open thread of the account. Idempotent. */
  acknowledge(acknowledgement: Omit<Acknowledgement, 'id'>): Promise<boolean>;
  /** Acknowledgements that no decision has taken into account yet, in order. */
  newAcknowledgements(): Promise<Acknowledgement[]>;
  /** The facts of alerts about these services beside their status, in any order. Services of which nothing is known are left out. */
  alertFacts(serviceIds: readonly number[]): Promise<AlertFacts[]>;
  /** The counts of what waits at `now`, for metrics. */
  countAlerts(now: number): Promise<AlertCounts>;
}

/** The facts of alerts about a service beside its status. */
export interface AlertFacts {
  readonly serviceId: number;
  /** Addresses of the domain of an owner's service, when its checks were permitted. */
  readonly addresses: readonly string[];
  /** Names of the dependencies that fail in its newest report. */
  readonly failingDependencies: readonly string[];
  /** The newest open incident of its vendor; null: none. */
  readonly vendor: { readonly title: string; readonly url: string } | null;
  /** A maintenance of its owner runs. */
  readonly isInMaintenance: boolean;
}

export interface AlertCounts {
  /** Events that no decision has taken into account yet. */
  readonly events: number;
  /** Messages that are not settled. */
  readonly waiting: number;
  /** Those of them whose last attempt has failed: at most one of a channel. */
  readonly retrying: number;
  /** Messages of the last 24 hours that were delivered. */
  readonly delivered: number;
  /** Messages of the last 24 hours that were given up or dropped. */
  readonly failed: number;
  /** Those of them that were dropped because too many waited for their channel. */
  readonly dropped: number;
  /** For how long the longest waiting message that could be sent has been due, milliseconds; 0: none is due. */
  readonly overdueMs: number;
}
