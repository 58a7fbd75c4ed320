/**
 * Sends a message into the thread of its alert, or edits the one that it replaces. The reference of a thread is the identifier by which it
 * is continued, then that of its newest message if that is an alert, which the next one may replace.
 */
import type { Sending, SendResult } from './channel-kind.ts';
import type { Answer } from './send-request.ts';

/** The requests by which a service posts and edits. */
export interface ThreadParts {
  /** Posts into the thread; null: into a new one. */
  readonly post: (thread: string | null) => Promise<Answer>;
  readonly edit: (id: string) => Promise<Answer>;
  /** Returns true if a refused post says that the thread is gone. Absent: the service does not say so. */
  readonly isGone?: (answer: Answer) => boolean;
  /** By which the thread that a post began is continued, and by which the post is edited; empty: there is none. */
  readonly identify: (json: unknown) => { readonly thread: string; readonly id: string };
}

/** The reference of services that show no threads. */
export const NO_THREAD = '-';

/** Makes one attempt. What can no longer be edited, such as a message that was deleted, is said in a new one. */
export async function sendInThread(
  { message, reference }: Sending,
  { post, edit, isGone, identify }: ThreadParts,
): Promise<SendResult> {
  const [thread = null, newest = null] = reference?.split(' ') ?? [];
  if (message.replaces === true && newest !== null) {
    const edited = await edit(newest);
    if (edited.ok) return { outcome: 'delivered' };
    if (edited.result.outcome !== 'refused') return edited.result;
  }
  let answer = await post(thread);
  const isAlone = !answer.ok && isGone?.(answer) === true;
  if (isAlone) answer = await post(null);
  if (!answer.ok) return answer.result;
  const posted = identify(answer.json);
  const begun = thread === null || isAlone ? posted.thread : thread;
  if (begun === '') return { outcome: 'delivered' };
  const after = message.type === 'alert' && posted.id !== '' ? `${begun} ${posted.id}` : begun;
  return after === reference ? { outcome: 'delivered' } : { outcome: 'delivered', reference: after };
}
