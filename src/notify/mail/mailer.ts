/** Sends e-mail through the operator's mail server. */
import type { ChannelProblem } from '../../domain/alert/channel-problem.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Identifier without angle brackets; the same in all attempts. */
  readonly messageId: string;
  /** Identifiers of the letters that this one continues, oldest first. */
  readonly references: readonly string[];
  /** Further headers, such as `List-Unsubscribe`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The end of an attempt to send. */
export type MailResult =
  | { readonly outcome: 'delivered' }
  /** It may succeed later. */
  | { readonly outcome: 'failed'; readonly problem: ChannelProblem }
  /** The server will never take it: the address does not exist. */
  | { readonly outcome: 'refused'; readonly problem: ChannelProblem };

/** A connection to the mail server. */
export interface Mailer {
  /** Does not reject. */
  send(letter: Letter, signal: AbortSignal): Promise<MailResult>;
  /** Why the server took none of the last letters, one line; null: it takes letters. */
  problem(): string | null;
  /** Ends connections. */
  close(): void;
}
