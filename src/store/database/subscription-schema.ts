/** Tables of subscriptions and letters. Times are epoch milliseconds, flags 0 or 1. */
import type { Generated } from 'kysely';
import type { MessageLanguage } from '../../domain/alert/channel.ts';

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
