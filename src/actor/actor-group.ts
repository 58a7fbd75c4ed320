/**
 * Actors of one kind: each has a state and a mailbox, and handles one message at a time by a pure function. That returns
 * effects, which are performed after the state has changed. A message to an idle actor is handled at once, so that only a
 * busy actor needs a mailbox in memory.
 */
import { IdMap } from '../async/id-map.ts';

/** The result of a message. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** The behaviour of a group's actors. */
export interface Behaviour<State, Message, Effect> {
  /** Pure: no clock, no randomness, no I/O. */
  readonly handle: (state: State, message: Message) => Step<State, Effect>;
  /** Performs an effect; may send messages, also to the same actor. */
  readonly perform: (id: number, effect: Effect) => void;
  readonly mailboxLimit: number;
  readonly overflow: OverflowPolicy;
  /** An empty store for the states. Default: each state stays the object that it is. */
  readonly states?: ActorStates<State>;
}

/** The states of actors by number. What it returns is equal to what was stored, and may be another object. */
export interface ActorStates<State> {
  readonly size: number;
  has(id: number): boolean;
  /** Undefined: there is no such actor. */
  get(id: number): State | undefined;
  set(id: number, state: State): unknown;
  /** False: there was no such actor. */
  delete(id: number): boolean;
}

/** Creates an empty group of actors by number. */
export function createActorGroup<State, Message, Effect>({
  handle,
  perform,
  mailboxLimit,
  overflow,
  states = new IdMap<State>(),
}: Behaviour<State, Message, Effect>) {
  /** Actors that are handling a message, with the messages that arrived meanwhile. */
  const busy = new Map<number, ReturnType<typeof createMailbox<Message>> | null>();

  const run = (id: number, first: Message) => {
    busy.set(id, null);
    try {
      for (let message: Message | undefined = first; message !== undefined; message = busy.get(id)?.take()) {
        const state = states.get(id);
        if (state === undefined) return;
        const step = handle(state, message);
        if (step.state !== state) states.set(id, step.state);
        for (const effect of step.effects) perform(id, effect);
      }
    } finally {
      busy.delete(id);
    }
  };

  return {
    /** Adds an actor, or replaces the state of the one with this number. */
    add: (id: number, state: State): void => void states.set(id, state),
    /** Undefined: there is no such actor. */
    state: (id: number): State | undefined => states.get(id),
    remove(id: number): void {
      states.delete(id);
      if (busy.has(id)) busy.set(id, null);
    },
    /** False: there is no such actor, or its full mailbox refused the message. */
    send(id: number, message: Message): boolean {
      if (!states.has(id)) return false;
      const waiting = busy.get(id);
      if (waiting === undefined) {
        run(id, message);
        return true;
      }
      const mailbox = waiting ?? createMailbox<Message>(mailboxLimit, overflow);
      busy.set(id, mailbox);
      return mailbox.put(message);
    },
    get size(): number {
      return states.size;
    },
  };
}

/** The behaviour of a full mailbox: `reject` refuses the new message, `drop_oldest` drops the oldest one. */
export type OverflowPolicy = 'reject' | 'drop_oldest';

/** Creates a mailbox, a queue for at most `limit` messages (1 or more). Throws a RangeError for another limit. */
export function createMailbox<Message>(limit: number, overflow: OverflowPolicy) {
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`a mailbox holds at least 1 message, not ${limit}`);
  const messages: Message[] = [];
  return {
    /** Adds a message; false: it was refused. */
    put(message: Message): boolean {
      if (messages.length === limit) {
        if (overflow === 'reject') return false;
        messages.shift();
      }
      messages.push(message);
      return true;
    },
    /** Takes the oldest; undefined: there is none. */
    take: (): Message | undefined => messages.shift(),
    get size(): number {
      return messages.length;
    },
  };
}
