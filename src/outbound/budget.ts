/** The time that a piece of work has for everything it does, and the one way in which it is cut short. */
import type { Cancel, Clock } from '../clock.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';

/** A running budget. The stage at work says how it is to be interrupted; there is one such stage at a time. */
export interface Budget {
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Why it is over; null: it runs. */
  readonly over: 'timeout' | 'aborted' | null;
  /**
   * What late turns of our own event loop have taken of it, milliseconds: how much sooner the work could have gone on,
   * at most, after each of its steps. Up to `MAX_RETURNED_MS` of it is added to the time-out.
   */
  readonly lostMs: number;
  /**
   * Called once when the budget is over; the stage at work puts itself here, and null when it is done. The function is
   * named before it is put here: V8 takes one that is assigned to a property as it stands for something that lives
   * long, and makes it old at birth; all that it holds then outlives the attempt until the next full collection.
   */
  interrupt: (() => void) | null;
  /**
   * To be called where the work goes on by what has just arrived: a name, a connection, a handshake, headers. It may
   * have lain there for as long as the present turn of the event loop came late.
   */
  step(): void;
  /** Ends it before its time, as an abort. */
  abort(): void;
  /** Lets go of the timer; to be called in any case. */
  close(): void;
}

/** Starts a budget of `timeoutMs`. `lateness` tells how late the present turn of the event loop came, milliseconds. */
export function openBudget(clock: Clock, timeoutMs: number, lateness: () => number = neverLate): Budget {
  return new RunningBudget(clock, timeoutMs, lateness);
}

const neverLate = () => 0;

/** A class for speed: one of these is made for each attempt of each check. */
class RunningBudget implements Budget {
  readonly timeoutMs: number;
  readonly startedAt: number;
  over: 'timeout' | 'aborted' | null = null;
  lostMs = 0;
  interrupt: (() => void) | null = null;
  readonly #clock: Clock;
  readonly #lateness: () => number;
  #cancel: Cancel = () => {};
  #steppedAt: number;
  #closed = false;

  constructor(clock: Clock, timeoutMs: number, lateness: () => number) {
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#lateness = lateness;
    this.startedAt = clock.monotonic();
    this.#steppedAt = this.startedAt;
    this.#arm(timeoutMs);
  }

  step(): void {
    const now = this.#clock.monotonic();
    this.lostMs += Math.min(this.#lateness(), now - this.#steppedAt);
    this.#steppedAt = now;
  }

  abort(): void {
    this.#end('aborted');
  }

  close(): void {
    this.#closed = true;
    this.#cancel();
    this.interrupt = null;
  }

  /**
   * A turn of the event loop runs its timers first and reads its sockets then. An answer that arrived in time, while
   * the loop stood still, is read before time counts as over.
   */
  #arm(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => setImmediate(() => this.#judge()));
  }

  #judge(): void {
    if (this.#closed || this.over !== null) return;
    const returnedMs = Math.min(this.lostMs, MAX_RETURNED_MS);
    const leftMs = this.startedAt + this.timeoutMs + returnedMs - this.#clock.monotonic();
    // Timers may come up to a millisecond early.
    if (leftMs >= 1) this.#arm(leftMs);
    else this.#end('timeout');
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
