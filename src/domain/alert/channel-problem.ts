/** Why a message could not be delivered to a channel. */
import { type Coded, type ParamsOf, textOf } from '../coded-text.ts';
import { describeCause, type Failure } from '../failure.ts';

const PROBLEMS = {
  /** `text`: what the receiver says about it, cleaned and cut; empty: nothing. */
  status: ({ statusCode, text }: { readonly statusCode: number; readonly text: string }) =>
    `HTTP ${statusCode}${text === '' ? '' : `: ${text}`}`,
  failed: ({ failure }: { readonly failure: Failure }) => describeCause(failure),
  /** The receiver asks us to slow down. */
  too_many: ({ statusCode }: { readonly statusCode: number }) => `HTTP ${statusCode}: too many messages`,
  /** The answer of a mail server. */
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
