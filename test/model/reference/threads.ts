/**
 * The reference implementation of the threads of alerts: what is open in a channel, who has it, and reminders. "A" is the section "Which
 * alerts are sent, and when" of docs/alerts.md. Times are epoch milliseconds.
 */
import type { DefinedRule } from '../diary.ts';
import { isTrouble, type Word, wordOf } from './messages.ts';
import { letsOutAt } from './quiet.ts';
import type { Topic } from './topics.ts';

/** A thread: what began in one message. */
interface Thread {
  isTaken: boolean;
  /** When something began in it last. */
  joinedAt: number;
  /** By channel: when the next reminder is due. */
  readonly remindAt: Map<number, number>;
}

const NEVER = Number.POSITIVE_INFINITY;

/** What threads need of alerts. */
export interface ThreadSources {
  readonly topics: ReadonlyMap<string, Topic>;
  /** Null: there is none, or it is switched off. */
  readonly ruleOf: (id: number) => DefinedRule | null;
  /** Whether maintenance of the owner holds it. */
  readonly isHeld: (topic: Topic) => boolean;
  readonly send: (type: string, thread: string, channel: number, words: readonly Word[]) => void;
}

/** Makes the threads of an account. */
export function createReferenceThreads({ topics, ruleOf, isHeld, send }: ThreadSources) {
  const threads = new Map<string, Thread>();

  /** What a channel was told of in a thread, and what still goes on. */
  function wordsIn(thread: string, channel: number): Word[] {
    return [...topics.values()].flatMap((topic) => {
      const line = topic.lines.get(channel);
      return line?.thread === thread ? [wordOf(topic, line)] : [];
    });
  }

  function isOpen(thread: string, channel: number): boolean {
    return wordsIn(thread, channel).length > 0;
  }

  /** Something began, or A: "If it gets worse (slow to down), the thread is open again." */
  function ask(thread: string, channel: number, words: readonly Word[], at: number): void {
    const known = threads.get(thread) ?? { isTaken: false, joinedAt: at, remindAt: new Map() };
    known.isTaken = false;
    known.remindAt.set(channel, at + repeatMsOf(channel, words));
    threads.set(thread, known);
  }

  function repeating(channel: number, words: readonly Word[]): DefinedRule[] {
    return [...new Set(words.filter(isTrouble).flatMap(({ line }) => line.rules))]
      .map(ruleOf)
      .filter((rule) => rule !== null)
      .filter((rule) => rule.repeatMs !== null && rule.channels.includes(channel));
  }

  function repeatMsOf(channel: number, words: readonly Word[]): number {
    return Math.min(...repeating(channel, words).map(({ repeatMs }) => repeatMs ?? NEVER));
  }

  function closeThreads(): void {
    const open = new Set(
      [...topics.values()].flatMap(({ lines }) => [...lines.values()].map(({ thread }) => thread)),
    );
    for (const thread of threads.keys()) if (!open.has(thread)) threads.delete(thread);
  }

  /** A: "Acknowledgement ends the reminders of a thread and tells its channels once who has it." */
  function acknowledge(thread: string): void {
    const known = threads.get(thread);
    if (known === undefined || known.isTaken) return;
    known.isTaken = true;
    for (const channel of [...known.remindAt.keys()].sort()) {
      const words = wordsIn(thread, channel).filter(isTrouble);
      if (words.length > 0) send('acknowledged', thread, channel, words);
    }
  }

  /** A: `repeat` is "a reminder until it is over or somebody acknowledges it"; "Reminders wait" for quiet hours. */
  function remind(now: number): void {
    for (const [thread, { isTaken, remindAt }] of threads) {
      if (isTaken) continue;
      for (const [channel, at] of remindAt) {
        if (at > now) continue;
        const words = wordsIn(thread, channel).filter(isTrouble);
        const names = words.flatMap(({ topic }) => topic.words);
        const out = Math.min(...repeating(channel, words).map((rule) => letsOutAt(rule, names, now)));
        const told = words.filter(({ topic, line }) => line.flaps === 'no' && !isHeld(topic));
        if (out <= now && told.length > 0) send('reminder', thread, channel, told);
        remindAt.set(channel, out > now ? out : now + repeatMsOf(channel, words));
      }
    }
  }

  return {
    wordsIn,
    isOpen,
    ask,
    close: closeThreads,
    acknowledge,
    remind,
    /** Something began in the thread. */
    join(thread: string, at: number): void {
      const known = threads.get(thread);
      if (known !== undefined) known.joinedAt = at;
    },
    /** The newest thread, of maintenance or of the rest, in which something began since `since`; null: none. */
    joinable: (since: number, isWork: boolean): string | null =>
      [...threads]
        .filter(([thread, { joinedAt }]) => joinedAt >= since && thread.endsWith('-m') === isWork)
        .at(-1)?.[0] ?? null,
    isTaken: (thread: string): boolean => threads.get(thread)?.isTaken ?? false,
    /** When the next reminder is due. */
    dueAt: (): number =>
      Math.min(
        ...[...threads.values()]
          .filter(({ isTaken }) => !isTaken)
          .flatMap(({ remindAt }) => [...remindAt.values()]),
      ),
    /** The clock was set back. */
    moveBack(byMs: number): void {
      for (const thread of threads.values()) {
        thread.joinedAt -= byMs;
        for (const [channel, at] of thread.remindAt) thread.remindAt.set(channel, at - byMs);
      }
    },
  };
}
