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

/** A part of the registry's tables. */
export interface SubscriptionSchema {
  /** Subscriptions of visitors. */
  subscriptions: {
    id: Generated<number>;
    /** A SubscriptionTopic. */
    topic: string;
    /** Digest of the address with the key of secrets. */
    mailbox: string;
    /** Encrypted. */
    address: string;
    language: MessageLanguage;
    /** Digest of the secret. */
    sha256: string;
    /** The secret in its links, encrypted. */
    secret: string;
    /** Refusals of the mail server, one after the other. */
    refusals: Generated<number>;
    created_at: number;
    /** Null: not confirmed. */
    confirmed_at: number | null;
  };
  /** Changes that subscribers are told of. */
  subscription_changes: {
    id: Generated<number>;
    /** Negative: the ID of a status page. */
    service_id: number;
    at: number;
    recorded_at: number;
    /** JSON of AlertChange. */
    change: string;
    /** The last subscription for which a letter was written. */
    after_id: Generated<number>;
    /** 1: all letters are written; 2: it waits for the end of an owner's maintenance. */
    written: Generated<number>;
  };
  /** Letters that wait: about a change, or requests for confirmations. They are deleted once they are settled. */
  letters: {
    id: Generated<number>;
    /** Null: it is for a channel. */
    subscription_id: number | null;
    /** Null: it is not about a change. */
    change_id: number | null;
    /** Null: it is for a subscription. */
    channel_id: number | null;
    /** Of a channel: the secret in its link, encrypted. */
    secret: string | null;
    attempts: Generated<number>;
    due_at: number;
    /** Null: an earlier version has written it. */
    created_at: Generated<number | null>;
    /** Null: it was not tried. */
    tried_at: Generated<number | null>;
  };
  /** Requests for confirmations by UTC day, by a digest of the address, or by account. */
  letter_counts: {
    name: string;
    /** Days since the epoch. */
    day: number;
    count: number;
  };
  /** The receivers of channels that were asked. */
  channel_confirmations: {
    /** Digest of the secret. */
    sha256: string;
    channel_id: number;
    /** Digest of the address with the key of secrets. */
    mailbox: string;
    created_at: number;
  };
}
