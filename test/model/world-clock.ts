/** The clock of a simulated world: its time, the monotonic clock and the wall clock go apart as a world says. */
import type { Cancel, Clock } from '../../src/clock.ts';

/** A clock that a world moves. All times are milliseconds. */
export interface WorldClock extends Clock {
  /** Since the beginning of the world, whatever happened to the process. */
  elapsed(): number;
  /** Promises were started that have to settle before time goes on. */
  touch(): void;
  /** Runs the timers up to `elapsed`, each at its time. */
  advanceTo(elapsed: number): Promise<void>;
  /** Both clocks go on without the process: each timer that became due meanwhile runs once. */
  stop(ms: number): Promise<void>;
  /** The machine sleeps: only the wall clock goes on. */
  sleep(ms: number): void;
  /** Sets the wall clock. */
  set(byMs: number): void;
  /** Lets promises settle without time passing. */
  settle(): Promise<void>;
  /** Cancels all timers: the process is gone. */
  clear(): void;
}

interface Entry {
  at: number;
  readonly order: number;
  readonly periodMs: number | null;
  readonly task: () => void;
  isCancelled: boolean;
}

/** Turns of the event loop in which what was started settles: the embedded stores answer in the same process. */
const TURNS = 4;

/** Creates a clock of whole milliseconds. `startAt`: the wall time of the beginning, epoch milliseconds. */
export function createWorldClock(startAt: number): WorldClock {
  let monotonicMs = 0;
  let asleepMs = 0;
  let setMs = 0;
  let order = 0;
  let isTouched = true;
  let entries: Entry[] = [];

  function add(delayMs: number, periodMs: number | null, task: () => void): Cancel {
    const entry = {
      at: monotonicMs + Math.max(0, Math.ceil(delayMs)),
      order: order++,
      periodMs,
      task,
      isCancelled: false,
    };
    push(entry);
    if (periodMs === null) isTouched = true;
    return () => {
      entry.isCancelled = true;
    };
  }

  // A binary heap, the entry that is due first at its top.

  function push(entry: Entry): void {
    let place = entries.push(entry) - 1;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!isBefore(entry, entries[parent])) break;
      entries[place] = entries[parent] as Entry;
      place = parent;
    }
    entries[place] = entry;
  }

  function pop(): Entry | undefined {
    const first = entries[0];
    const last = entries.pop();
    if (first === undefined || last === undefined || entries.length === 0) return first;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= entries.length) break;
      if (child + 1 < entries.length && isBefore(entries[child + 1] as Entry, entries[child])) child += 1;
      if (!isBefore(entries[child] as Entry, last)) break;
      entries[place] = entries[child] as Entry;
      place = child;
    }
    entries[place] = last;
    return first;
  }

  /** Takes the next entry that is due; undefined: none is. */
  function takeDue(untilMs: number): Entry | undefined {
    while (entries[0] !== undefined && (entries[0].isCancelled || entries[0].at <= untilMs)) {
      const entry = pop();
      if (entry !== undefined && !entry.isCancelled) return entry;
    }
    return undefined;
  }

  async function run(entry: Entry): Promise<void> {
    const { periodMs } = entry;
    if (periodMs !== null) {
      // What fell into a standstill is not made up for.
      entry.at += Math.max(1, Math.ceil((monotonicMs - entry.at + 1) / periodMs)) * periodMs;
      push(entry);
    } else isTouched = true;
    entry.task();
    await settle();
  }

  async function settle(): Promise<void> {
    while (isTouched) {
      isTouched = false;
      for (let turn = 0; turn < TURNS; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  return {
    now: () => startAt + monotonicMs + asleepMs + setMs,
    monotonic: () => monotonicMs,
    after: (delayMs, task) => add(delayMs, null, task),
    every: (periodMs, task) => add(periodMs, periodMs, task),
    elapsed: () => monotonicMs + asleepMs,
    touch() {
      isTouched = true;
    },
    async advanceTo(elapsed) {
      const endMs = elapsed - asleepMs;
      await settle();
      for (let due = takeDue(endMs); due !== undefined; due = takeDue(endMs)) {
        monotonicMs = Math.max(monotonicMs, due.at);
        await run(due);
      }
      monotonicMs = Math.max(monotonicMs, endMs);
    },
    async stop(ms) {
      await settle();
      monotonicMs += ms;
      const due: Entry[] = [];
      for (let next = takeDue(monotonicMs); next !== undefined; next = takeDue(monotonicMs)) due.push(next);
      for (const entry of due) if (!entry.isCancelled) await run(entry);
    },
    sleep(ms) {
      asleepMs += ms;
    },
    set(byMs) {
      setMs += byMs;
    },
    settle,
    clear() {
      entries = [];
    },
  };
}

function isBefore(one: Entry, other: Entry | undefined): boolean {
  return other !== undefined && (one.at < other.at || (one.at === other.at && one.order < other.order));
}
