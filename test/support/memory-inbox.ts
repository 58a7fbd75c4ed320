/** An inbox of heartbeats in memory, with the port's rules, for tests of both of its sides. */
import type { HeartbeatInbox, InboxAnswer, InboxEntry } from '../../src/store/ports/inbox.ts';

/** The inbox, and what a test may look at and do. */
export interface MemoryInbox extends HeartbeatInbox {
  readonly entries: readonly InboxEntry[];
  readonly answers: ReadonlyMap<number, InboxAnswer>;
  /** True: the registry is away. */
  away: boolean;
}

/** Makes an empty inbox. Whoever watches is told of every change at once. */
export function createMemoryInbox(): MemoryInbox {
  const entries: InboxEntry[] = [];
  const answers = new Map<number, InboxAnswer>();
  const listeners = new Set<() => void>();
  let away = false;
  let newest = 0;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const ask = () => {
    if (away) throw new Error('the registry is away');
  };
  return {
    entries,
    answers,
    get away() {
      return away;
    },
    set away(next) {
      away = next;
    },
    async putInInbox(entry) {
      ask();
      newest += 1;
      entries.push({ id: newest, ...entry });
      tell();
      return newest;
    },
    async openInInbox(after) {
      ask();
      return entries.filter(({ id }) => id > after && !answers.has(id)).slice(0, 200);
    },
    async answerInInbox(id, answer) {
      ask();
      if (!answers.has(id)) answers.set(id, answer);
      tell();
    },
    async inboxAnswers(ids) {
      ask();
      return ids.flatMap((id) => {
        const answer = answers.get(id);
        return answer === undefined ? [] : [{ id, answer }];
      });
    },
    async forgetInbox(before) {
      const old = entries.filter(({ id, arrivedAt }) => answers.has(id) && arrivedAt < before);
      for (const one of old) entries.splice(entries.indexOf(one), 1);
      return old.length;
    },
    watchOtherProcesses(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
