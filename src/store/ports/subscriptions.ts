/** Port of the registry: subscriptions of visitors, and the letters that are not messages of channels. */
import type { MessageLanguage } from '../../domain/alert/channel.ts';
import type { AlertEvent } from '../../domain/alert/event.ts';
import type { NamedService, SubscriptionTopic } from '../../domain/subscription.ts';

interface SubscriptionRequest {
  readonly topic: SubscriptionTopic;
  /** As `readMailAddress` returns it. */
  readonly address: string;
  readonly language: MessageLanguage;
  /** Whose form it was, in the form that rate limits count by. Absent: no form's. */
  readonly client?: string;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The topic of a subscription, by the names of today. */
export interface TopicName {
  readonly kind: 'service' | 'category' | 'page';
  /** Name of the service, the category, or title of the page. */
  readonly name: string;
  /**
   * A name of which an owner has chosen at most a slug: people who have agreed to nothing yet get no words of strangers. A page has the
   * path of its address.
   */
  readonly plainName: string;
}

/** A subscription as its links show it, without the address. */
export interface Subscription {
  readonly topic: TopicName;
  readonly language: MessageLanguage;
  readonly isConfirmed: boolean;
}

/** An e-mail channel as the links in its letters show it. */
export interface AskedChannel {
  readonly account: string;
  readonly channel: string;
  readonly language: MessageLanguage;
  readonly isConfirmed: boolean;
  /** The receiver has stopped it. */
  readonly isStopped: boolean;
}

export type DueLetter = {
  readonly id: number;
  readonly attempts: number;
  /** The time at which it was written, epoch milliseconds; null: an earlier version has written it. */
  readonly createdAt: number | null;
  /** Address of the recipient. Never logged. */
  readonly to: string;
  readonly language: MessageLanguage;
  /** The secret in its links. Never logged. */
  readonly secret: string;
} & (
  | {
      /** `subscribe` asks for a confirmation; `already`: a subscriber has asked once more. */
      readonly kind: 'subscribe' | 'already';
      readonly topic: TopicName;
    }
  | {
      readonly kind: 'change';
      readonly subscriptionId: number;
      readonly topic: TopicName;
      readonly event: Pick<AlertEvent, 'change' | 'at'> & { readonly id: number };
      readonly service: NamedService;
      /** As `subscriberMessage` takes it. */
      readonly beganAt: number | null;
    }
  | { readonly kind: 'channel'; readonly account: string; readonly channel: string }
);

/** The end of an attempt to send a letter. */
export interface LetterOutcome {
  readonly id: number;
  readonly outcome: 'delivered' | 'failed' | 'refused';
  /** The time at which the attempt began, epoch milliseconds. Absent: not known. */
  readonly triedAt?: number;
  /** Of `failed`: time of the next attempt, epoch milliseconds; null: there is none, and the letter is deleted. */
  readonly dueAt: number | null;
}

/** Subscriptions and letters. Addresses are stored encrypted, and found by a digest that needs the key of secrets. */
export interface SubscriptionStore {
  /**
   * Adds a subscription that is not confirmed, and a letter that asks for it. A subscriber who asks again gets a letter that says
   * so. Beyond `MAX_CONFIRMATIONS_PER_DAY` and the other bounds nothing happens. The caller cannot tell one from the other.
   */
  requestSubscription(request: SubscriptionRequest): Promise<void>;
  /** By the secret of a link; null: there is none, or its service or page is gone. */
  findSubscription(secret: string): Promise<Subscription | null>;
  /** Confirms a subscription; null as {@link findSubscription}. Idempotent. */
  confirmSubscription(secret: string, now: number): Promise<Subscription | null>;
  /** Deletes a subscription with its address and its letters; false: there is none. */
  endSubscription(secret: string): Promise<boolean>;
  /** Number of confirmed subscriptions of each topic, in the order of the input. */
  countSubscriptions(topics: readonly SubscriptionTopic[]): Promise<number[]>;
  /** By the secret of a link; null: there is none, or the address of the channel has changed. */
  findAskedChannel(secret: string): Promise<AskedChannel | null>;
  /** Makes the monitor ask the receiver of a channel once more, within the limits; false: the account has no such channel. */
  askChannelAgain(accountId: number, id: number): Promise<boolean>;
  /** Confirms a channel; null as {@link findAskedChannel}. Idempotent. */
  confirmChannel(secret: string, now: number): Promise<AskedChannel | null>;
  /** By the secret of the link that stops a channel; null: it is of no channel, or of an address that the channel had before. */
  findChannelOfStop(secret: string): Promise<AskedChannel | null>;
  /**
   * Takes the confirmation from a channel, with a notice to its account, or gives back what was taken so; null as
   * {@link findChannelOfStop}. Idempotent. Nothing is given back that the mail server or the owner has ended.
   */
  stopChannel(secret: string, isStopped: boolean, now: number): Promise<AskedChannel | null>;
}

/** The methods of the sender of letters. Only the monitor sends. */
export interface LetterStore {
  /**
   * Writes letters about the oldest changes that have not been told to all their subscribers, at most `limit`, unless as many wait
   * already. Resolves with their number. Subscribers of several topics of the change get one letter.
   */
  writeLetters(now: number, limit: number): Promise<number>;
  /** Writes letters to the receivers of channels that have not been asked. Resolves with their number. */
  askChannels(now: number): Promise<number>;
  /**
   * Takes the confirmation from e-mail channels whose last `MAX_REFUSALS` messages the mail server refused for good, with a
   * notice to their accounts. Resolves with their number.
   */
  turnOffChannels(now: number): Promise<number>;
  /**
   * Letters that are due at `now`, or would wait for longer than any attempt asks for: requests for confirmations first, and of each
   * subscription only the oldest one. That is due `RETRY_FOR_NEW_MS` after its last attempt if a letter was written since. `isAway`:
   * the mail server was not reached of late, so the oldest letter that has failed is due a minute after its last attempt.
   */
  dueLetters(now: number, limit: number, isAway?: boolean): Promise<DueLetter[]>;
  /** Makes all letters due that have failed: the mail server is back. */
  hastenLetters(now: number): Promise<void>;
  /** Stores outcomes. After `MAX_REFUSALS` refusals in a row a subscription is deleted. */
  noteLetters(outcomes: readonly LetterOutcome[]): Promise<void>;
  /**
   * Tells which maintenance of status pages has begun and ended, and deletes what is over: subscriptions that nobody has confirmed in time or whose service or page is gone, and changes of more than a
   * day ago, by the clock of retention. Resolves with the number of subscriptions.
   */
  tidySubscriptions(now: number, retentionNow: number): Promise<number>;
}
