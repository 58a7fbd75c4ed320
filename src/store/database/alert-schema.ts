/** Tables of alerts: channels, rules, events, decisions and messages. Times are epoch milliseconds, flags 0 or 1. */
import type { Generated } from 'kysely';
import type { ChannelKind, MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';

/** A part of the registry's tables. */
export interface AlertSchema {
  /** Channels of accounts. */
  channels: {
    id: Generated<number>;
    account_id: number;
    name: string;
    kind: ChannelKind;
    /** Encrypted JSON of ChannelSettings. */
    settings: string;
    language: MessageLanguage;
    confirmed_at: number | null;
    /** Null: its receiver has not stopped it. */
    stopped_at: Generated<number | null>;
    created_at: number;
    revision: number;
  };
  /** Rules of accounts. */
  alert_rules: {
    id: Generated<number>;
    account_id: number;
    name: string;
    /** JSON of what the rule says. */
    definition: string;
    enabled: number;
    created_at: number;
    revision: number;
  };
  /** The feed of events. Rows are deleted once they are decided. */
  alert_events: {
    position: Generated<number>;
    service_id: number;
    at: number;
    recorded_at: number;
    /** JSON of AlertChange. */
    change: string;
  };
  /** The engine's memory of each account. */
  alert_states: {
    account_id: number;
    /** JSON. */
    state: string;
    due_at: number | null;
  };
  /** Messages to channels, waiting and settled. */
  alert_messages: {
    id: Generated<number>;
    /** The identifier that receivers see. */
    key: string;
    channel_id: number;
    /** The place in the queue of the channel; a replayed message gets a new one. */
    turn: number;
    thread: string;
    type: AlertMessage['type'];
    /** JSON of AlertMessage. */
    message: string;
    /** Start of the first failed attempt, if the time from it to the delivery is measured; null: it is not. */
    failed_at: number | null;
    created_at: number;
    /** Null: settled. */
    due_at: number | null;
    attempts: Generated<number>;
    /** Start of the newest attempt; null: there was none. */
    tried_at: number | null;
    /** Number of messages before this one that were dropped, because too many waited. */
    dropped: Generated<number>;
    delivered_at: number | null;
    /** JSON of ChannelProblem. */
    problem: string | null;
  };
  /** The references with which channels continue threads. */
  alert_threads: {
    channel_id: number;
    thread: string;
    reference: string;
    updated_at: number;
  };
  /** Channels to which nothing could be delivered since a time. */
  channel_failures: {
    channel_id: number;
    since: number;
    /** JSON of ChannelProblem: of the newest attempt. */
    problem: string | null;
    /** The time at which the account was told of it; null: it was not. */
    told_at: number | null;
  };
  /** Acknowledgements, one for each thread. `decided` 1: a decision has taken it into account. */
  alert_acknowledgements: {
    id: Generated<number>;
    account_id: number;
    thread: string;
    /** Empty: by the link in a message. */
    by_name: string;
    at: number;
    decided: Generated<number>;
  };
}
