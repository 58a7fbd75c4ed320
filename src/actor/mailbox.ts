/** A bounded queue of messages for one actor. */

/**
 * What happens to a message that finds the mailbox full: `reject` refuses the new one, `drop_oldest` makes room by
 * losing the oldest, `drop_newest` loses the new one silently.
 */
export type OverflowPolicy = 'reject' | 'drop_oldest' | 'drop_newest';

/** A mailbox. */
export interface Mailbox<Message> {
  /** Puts a message in by the policy; false: it was refused or lost. */
  put(message: Message): boolean;
  /** Takes the oldest; undefined: there is none. */
  take(): Message | undefined;
  readonly size: number;
  /** Messages lost to the policy since the beginning. */
  readonly lost: number;
}

/** Makes a mailbox for at most `limit` messages (1 or more). Throws a RangeError for another limit. */
export function createMailbox<Message>(limit: number, overflow: OverflowPolicy): Mailbox<Message> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`a mailbox holds at least 1 message, not ${limit}`);
  const messages: Message[] = [];
  let lost = 0;
  return {
    put(message) {
      if (messages.length < limit) {
        messages.push(message);
        return true;
      }
      lost++;
      if (overflow !== 'drop_oldest') return false;
      messages.shift();
      messages.push(message);
      return true;
    },
    take: () => messages.shift(),
    get size() {
      return messages.length;
    },
    get lost() {
      return lost;
    },
  };
}
