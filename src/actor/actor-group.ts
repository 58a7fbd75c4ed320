/**
 * Actors of one kind: each has a state, a mailbox and takes one message at a time. Their heart is a pure function;
 * what it wants done in the world it returns as effects, which are performed after the new state is in place.
 * A message to an actor at rest is handled at once, so that only a busy actor needs a mailbox in memory.
 */
import { createMailbox, type Mailbox, type OverflowPolicy } from './mailbox.ts';

/** What a message makes of an actor. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** How the actors of a group behave. */
export interface Behaviour<State, Message, Effect> {
  /** Pure: no clock, no chance, no I/O. */
  readonly handle: (state: State, message: Message) => Step<State, Effect>;
  /** Does what an actor wants done; may send messages, to the same actor too. */
  readonly perform: (id: number, effect: Effect) => void;
  readonly mailboxLimit: number;
  readonly overflow: OverflowPolicy;
}

/** A group of actors by number. */
export interface ActorGroup<State, Message> {
  /** Adds an actor, or replaces the state of the one with this number. */
  add(id: number, state: State): void;
  /** Undefined: there is no such actor. */
  state(id: number): State | undefined;
  /** Forgets an actor and what waits in its mailbox. */
  remove(id: number): void;
  /** False: there is no such actor, or its full mailbox refused the message. */
  send(id: number, message: Message): boolean;
  ids(): IterableIterator<number>;
  readonly size: number;
}

/** Makes an empty group. */
export function createActorGroup<State, Message, Effect>({
  handle,
  perform,
  mailboxLimit,
  overflow,
}: Behaviour<State, Message, Effect>): ActorGroup<State, Message> {
  const states = new Map<number, State>();
  /** Actors in the middle of a message, with what came for them meanwhile. */
  const busy = new Map<number, Mailbox<Message> | null>();

  const run = (id: number, first: Message) => {
    busy.set(id, null);
    try {
      for (let message: Message | undefined = first; message !== undefined; message = busy.get(id)?.take()) {
        const state = states.get(id);
        if (state === undefined) return;
        const step = handle(state, message);
        states.set(id, step.state);
        for (const effect of step.effects) perform(id, effect);
      }
    } finally {
      busy.delete(id);
    }
  };

  return {
    add: (id, state) => void states.set(id, state),
    state: (id) => states.get(id),
    remove(id) {
      states.delete(id);
      if (busy.has(id)) busy.set(id, null);
    },
    send(id, message) {
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
    ids: () => states.keys(),
    get size() {
      return states.size;
    },
  };
}
