/** A kind of channel. One file of this folder for each kind. */
import type { Clock } from '../../clock.ts';
import type { Channel, ChannelProblem, ChannelSettings } from '../../domain/alert/channel.ts';
import type { AlertMessage } from '../../domain/alert/message.ts';
import type { SettingProblem } from '../../domain/input-problem.ts';
import type { TObject } from '../../json-schema.ts';
import type { AddressPolicy } from '../../outbound/address-guard.ts';
import type { Requests } from '../../outbound/outbound.ts';
import type { Mailer } from '../mail/smtp-mailer.ts';

export interface ChannelTools {
  readonly outbound: Requests;
  /** Addresses that channels may have. */
  readonly policy: AddressPolicy;
  /** The same for channels of trusted accounts and of the operator. Absent: as for all others. */
  readonly trustedPolicy?: AddressPolicy;
  /** Null: the operator has configured no mail server. */
  readonly mailer: Mailer | null;
  readonly clock: Clock;
  /** The time that the nodes of a cluster share, for what is signed, epoch milliseconds. Absent: that of this process. */
  readonly sharedNow?: () => number;
  /** Public URL of the site, without a slash at its end. */
  readonly siteUrl: string;
}

/** A message on its way. */
export interface Sending {
  readonly channel: Channel;
  readonly message: AlertMessage;
  /** The reference that the kind stored for the thread of the message; null: nothing was sent in it. */
  readonly reference: string | null;
  /** The same in all attempts to send it, for receivers that recognize duplicates. */
  readonly id: string;
  /** By which the receiver of e-mail stops the channel. Absent: it is of another kind, or one of the operator. */
  readonly stopSecret?: string;
  readonly signal: AbortSignal;
}

/** The end of an attempt. */
export type SendResult =
  /** `reference`: what the kind needs to continue the thread; absent: it stays as it was. */
  | { readonly outcome: 'delivered'; readonly reference?: string }
  /** It may succeed later. `retryAfterMs`: the receiver says when; absent: it does not. */
  | { readonly outcome: 'failed'; readonly problem: ChannelProblem; readonly retryAfterMs?: number }
  /** It never will: the receiver refuses this message or this channel. */
  | { readonly outcome: 'refused'; readonly problem: ChannelProblem };

export interface ChannelKindParts {
  /**
   * The settings: the one source of what forms, API and files take. Secrets are `writeOnly`. Each has a `title` and a
   * `description` in English that says where to find it.
   */
  readonly settings: TObject;
  /** The problems of settings that fit the schema. Absent: none. */
  readonly refuse?: (
    settings: ChannelSettings,
  ) => readonly { readonly setting: string; readonly problem: SettingProblem }[];
  /** Minimum time between two messages to one channel, milliseconds, by the published limits of the service. Absent: 0. */
  readonly paceMs?: number;
  /** True if the receiver has to agree before anything but the request for it is sent. Absent: no. */
  readonly needsConfirmation?: boolean;
  /** Its destination for lists, without secrets: `#ops of hooks.slack.com`, `ops@example.com`. */
  readonly describe: (settings: ChannelSettings) => string;
  /** Makes one attempt. Does not throw but for faults of the program. */
  readonly send: (tools: ChannelTools, sending: Sending) => Promise<SendResult>;
}
