/** Channels: where an account is notified of changes, and why nothing can be delivered there. */
import { type Coded, type ParamsOf, textOf } from '../coded-text.ts';
import { describeCause, type Failure } from '../failure.ts';

/** Kinds of channels. One file of `src/notify/channels/` for each. */
export const CHANNEL_KINDS = [
  'email',
  'slack',
  'discord',
  'teams',
  'mattermost',
  'google-chat',
  'telegram',
  'matrix',
  'ntfy',
  'gotify',
  'pushover',
  'pagerduty',
  'opsgenie',
  'webhook',
] as const;

export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** Kinds whose messages stand alone, however a channel is set up. */
const KINDS_WITHOUT_THREADS: ReadonlySet<ChannelKind> = new Set(['teams', 'ntfy', 'gotify', 'pushover']);

/** Returns true if a kind can continue what it said before. A channel of the kind may be set up in a way that cannot. */
export function hasThreads(kind: ChannelKind): boolean {
  return !KINDS_WITHOUT_THREADS.has(kind);
}

/** The settings of a channel by name, as the schema of its kind describes them. Some are secrets. */
export type ChannelSettings = Readonly<Record<string, string | number | boolean>>;

/** Languages of messages (BCP 47). */
export const MESSAGE_LANGUAGES = ['en', 'de'] as const;

export type MessageLanguage = (typeof MESSAGE_LANGUAGES)[number];

/**
 * Maximum time between two attempts to send a message, milliseconds, but for a tenth of it at random. The message that is tried
 * again holds up those behind it, so it is tried more often than the delivery of a webhook.
 */
export const MAX_RETRY_WAIT_MS = 3_600_000;

export interface Channel {
  readonly id: number;
  readonly accountId: number;
  /** Unique within the account. */
  readonly name: string;
  readonly kind: ChannelKind;
  /** With its secrets in clear text: never logged, and never shown whole. */
  readonly settings: ChannelSettings;
  readonly language: MessageLanguage;
  /** Epoch milliseconds; null: the receiver has not confirmed the channel yet, and gets only the request to do so. */
  readonly confirmedAt: number | null;
  /**
   * The time at which the receiver stopped it by the link of a letter, epoch milliseconds; it is not confirmed then. Absent:
   * the receiver has not.
   */
  readonly stoppedAt?: number;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  /** Increases with each change. */
  readonly revision: number;
}

const PROBLEMS = {
  /** `text`: what the receiver says about it, cleaned and cut; empty: nothing. */
  status: ({ statusCode, text }: { readonly statusCode: number; readonly text: string }) =>
    `HTTP ${statusCode}${text === '' ? '' : `: ${text}`}`,
  failed: ({ failure }: { readonly failure: Failure }) => describeCause(failure),
  /** The receiver asks us to slow down. */
  too_many: ({ statusCode }: { readonly statusCode: number }) => `HTTP ${statusCode}: too many messages`,
  mail_refused: ({ text }: { readonly text: string }) => `the mail server refused it: ${text}`,
  mail_unreachable: ({ text }: { readonly text: string }) => `the mail server cannot be reached: ${text}`,
  /** The operator has configured no mail server. */
  no_mail_server: 'this installation sends no e-mail (alerts.smtp.host)',
  not_confirmed: 'the address has not been confirmed',
  /** So many older messages waited that this one was dropped. */
  outbox_full: 'too many messages waited for this channel',
  /** A text of an error of the program; it is shown as it is. */
  text: ({ text }: { readonly text: string }) => text,
};

export type ChannelProblemParams = ParamsOf<typeof PROBLEMS>;

/** Why a message could not be delivered. */
export type ChannelProblem = Coded<ChannelProblemParams>;

/** In English, in one line without a full stop. */
export function describeChannelProblem(problem: ChannelProblem): string {
  return textOf(PROBLEMS, problem, 'the reason is not known');
}
