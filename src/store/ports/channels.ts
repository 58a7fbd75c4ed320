/** Port of the registry: channels of accounts, and the messages to them. */
import type {
  Channel,
  ChannelProblem,
  ChannelSettings,
  MessageLanguage,
} from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';

/** Maximum number of messages that wait for a channel. The oldest are dropped beyond it, but not the one that is being sent. */
export const MAX_WAITING_MESSAGES = 1_000;

/** A new message lets the first one of its channel be tried again if its last attempt began at least so long ago, milliseconds. */
export const RETRY_FOR_NEW_MS = 15_000;

/** Maximum number of channels of an account. */
export const MAX_CHANNELS = 50;

/** The properties of a channel that a change replaces. Absent properties stay unchanged. */
interface ChannelEdit {
  readonly name?: string;
  readonly settings?: ChannelSettings;
  readonly language?: MessageLanguage;
  /** Null: the receiver has to agree again. */
  readonly confirmedAt?: number | null;
}

/** Channels. An account sees only its own; those of others count as missing. Settings are stored encrypted. */
export interface ChannelStore {
  /** Adds a channel. Rejects with `account_limit` ({@link MAX_CHANNELS}) or `name_taken`. */
  addChannel(channel: Omit<Channel, 'id' | 'revision'>): Promise<Channel>;
  /** Ordered by name. */
  channelsOf(accountId: number): Promise<Channel[]>;
  /**
   * Changes a channel. Rejects with `not_found`, `name_taken`, and `stale` if `revisions` are given and do not contain that
   * of the channel.
   */
  changeChannel(
    accountId: number,
    id: number,
    edit: ChannelEdit,
    revisions?: readonly number[],
  ): Promise<Channel>;
  /** Removes a channel with its messages, also from rules. Rejects as {@link changeChannel}. */
  removeChannel(accountId: number, id: number, revisions?: readonly number[]): Promise<void>;
}

/** The reference with which a channel continues a thread, such as the `ts` of Slack; null: nothing was said. */
type ThreadReference = string | null;

/** A message for a channel, pending or settled. */
export interface StoredMessage {
  readonly id: number;
  readonly channelId: number;
  readonly message: AlertMessage;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Time of the next attempt, epoch milliseconds; null: none. */
  readonly dueAt: number | null;
  readonly attempts: number;
  /** Epoch milliseconds; null: not delivered yet. */
  readonly deliveredAt: number | null;
  /** Why the last attempt failed; null: it succeeded, or there was none. */
  readonly problem: ChannelProblem | null;
}

/** A due message with what its channel needs to send it. */
export interface DueMessage extends StoredMessage {
  /** Identifies the message for receivers; the same in all attempts and replays. */
  readonly key: string;
  readonly channel: Channel;
  /** Its account is trusted now. Absent: it is not. */
  readonly isTrusted?: boolean;
  /** By which the receiver of e-mail stops the channel. Absent: it is of another kind. */
  readonly stopSecret?: string;
  readonly reference: ThreadReference;
  /** Something that is down has to be told, by this message or one that waits behind it. */
  readonly isUrgent: boolean;
}

export interface MessageOutcome {
  readonly id: number;
  /** The due time of the attempt. If the message was replayed meanwhile, the outcome changes nothing. */
  readonly wasDueAt: number | null;
  /** The beginning and the end of the attempt, epoch milliseconds. */
  readonly triedAt: number;
  readonly at: number;
  /** Null: the attempt failed. */
  readonly deliveredAt: number | null;
  readonly problem: ChannelProblem | null;
  /** Time of the next attempt, epoch milliseconds; null: none. */
  readonly dueAt: number | null;
  /** Stored for the thread of the message; absent: it stays as it was. */
  readonly reference?: string;
}

/** A channel to which nothing could be delivered for a while, of which its account was not told. */
export interface FailingChannel {
  readonly channelId: number;
  readonly accountId: number;
  readonly name: string;
  /** Time of the first failed attempt since the last delivery, epoch milliseconds. */
  readonly since: number;
  /** Of the newest attempt. */
  readonly problem: ChannelProblem | null;
}

/** The time from the first failed attempt to the delivery, over a period. */
export interface AlertDelay {
  readonly count: number;
  /** Milliseconds; null: nothing was delivered. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

/** Messages to channels: each channel gets its messages one after the other, in the order in which they were written. */
export interface MessageStore {
  /** Adds a message that is due at once, such as a test; false: the account has no such channel. */
  addMessage(accountId: number, channelId: number, message: AlertMessage, now: number): Promise<boolean>;
  /**
   * The first unsettled message of each channel, if it is due at `now`; longest waiting first, at most 8 of an account. A due time
   * that no attempt can have asked for is that of a clock which was ahead, and counts as `now`. If a message was added since the
   * last attempt, the first one is due {@link RETRY_FOR_NEW_MS} after that attempt, unless the receiver asked for time.
   */
  dueMessages(now: number, limit: number): Promise<DueMessage[]>;
  /** Returns true if any message waits, also for a later time. */
  hasMessages(): Promise<boolean>;
  noteMessage(outcome: MessageOutcome): Promise<void>;
  /** Newest first, at most 50; of one channel if `channelId` is given. */
  messagesOf(accountId: number, channelId?: number): Promise<StoredMessage[]>;
  /** Makes a message due again, after those that wait; false: the account has no such message. */
  replayMessage(accountId: number, id: number, now: number): Promise<boolean>;
  /** Channels to which nothing could be delivered since `since`, epoch milliseconds, or longer, of which nobody was told. */
  failingChannels(since: number): Promise<FailingChannel[]>;
  /**
   * Tells the account of such a channel, once: by the message over its first channel (by ID) that does not fail, else by a
   * notice. Does nothing if it was told, or if the channel delivers again.
   */
  tellFailingChannel(failing: FailingChannel, message: AlertMessage, now: number): Promise<void>;
  /** Of alerts that were delivered since `since`, epoch milliseconds, to the account; null: to all accounts. */
  alertDelay(accountId: number | null, since: number): Promise<AlertDelay>;
  /** Deletes settled messages from before `before`, epoch milliseconds. Resolves with their number. */
  forgetMessages(before: number): Promise<number>;
}
