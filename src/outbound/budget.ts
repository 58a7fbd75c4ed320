/** The time that a piece of work has for everything it does, and the one way in which it is cut short. */
import type { Cancel, Clock } from '../clock.ts';

/** A running budget. The stage at work says how it is to be interrupted; there is one such stage at a time. */
export interface Budget {
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Why it is over; null: it runs. */
  readonly over: 'timeout' | 'aborted' | null;
  /** How late the timer came when time ran out, milliseconds; a late event loop makes it large. */
  readonly lateMs: number;
  /**
   * Called once when the budget is over; the stage at work puts itself here, and null when it is done. The function is
   * named before it is put here: V8 takes one that is assigned to a property as it stands for something that lives
   * long, and makes it old at birth; all that it holds then outlives the attempt until the next full collection.
   */
  interrupt: (() => void) | null;
  /** Ends it before its time, as an abort. */
  abort(): void;
  /** Lets go of the timer; to be called in any case. */
  close(): void;
}

/** Starts a budget of `timeoutMs`. */
export function openBudget(clock: Clock, timeoutMs: number): Budget {
  return new RunningBudget(clock, timeoutMs);
}

/** Waits for an answer for as long as the budget runs; null: it was over first. */
export function within<T extends object>(budget: Budget, answer: Promise<T>): Promise<T | null> {
  if (budget.over !== null) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const interrupt = () => resolve(null);
    budget.interrupt = interrupt;
    answer.then((value) => {
      budget.interrupt = null;
      resolve(value);
    }, reject);
  });
}

/** A class for speed: one of these is made for each attempt of each check. */
class RunningBudget implements Budget {
  readonly timeoutMs: number;
  readonly startedAt: number;
  over: 'timeout' | 'aborted' | null = null;
  lateMs = 0;
  interrupt: (() => void) | null = null;
  readonly #cancel: Cancel;

  constructor(clock: Clock, timeoutMs: number) {
    this.timeoutMs = timeoutMs;
    this.startedAt = clock.monotonic();
    this.#cancel = clock.after(timeoutMs, () => {
      this.lateMs = clock.monotonic() - this.startedAt - timeoutMs;
      this.#end('timeout');
    });
  }

  abort(): void {
    this.#end('aborted');
  }

  close(): void {
    this.#cancel();
    this.interrupt = null;
  }

  #end(why: 'timeout' | 'aborted'): void {
    if (this.over !== null) return;
    this.over = why;
    this.#cancel();
    const { interrupt } = this;
    this.interrupt = null;
    interrupt?.();
  }
}
