/** The deadline of an operation, and the only way to interrupt it. */
import type { Cancel, Clock } from '../clock.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';

/**
 * A running deadline. One stage of the work runs at a time, and registers how it is interrupted. A class for speed: each
 * attempt of each check makes one.
 */
export class Deadline {
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Why it has ended; null: it is still running. */
  over: 'timeout' | 'aborted' | null = null;
  /**
   * Time that delays of our own event loop have cost, milliseconds: an upper bound on how much sooner each step could
   * have run. Up to `MAX_RETURNED_MS` of it is added to the time-out.
   */
  lostMs = 0;
  /**
   * Called once when the deadline is over. The running stage sets it, and sets null when it is done. Assign a function
   * that already has a name: V8 allocates a function literal that is assigned to a property in the old generation, so
   * that everything it references stays in memory until the next full collection.
   */
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

  /**
   * Call it when input has arrived that the work waited for: a name, a connection, a handshake, headers. The input may
   * have waited for as long as the present turn of the event loop was late.
   */
  step(): void {
    const now = this.#clock.monotonic();
    this.lostMs += Math.min(this.#lateness(), now - this.#steppedAt);
    this.#steppedAt = now;
  }

  /** Ends it early, as an abort. */
  abort(): void {
    this.#end('aborted');
  }

  /** Releases the timer. Always call it. */
  close(): void {
    this.#closed = true;
    this.#cancel();
    this.interrupt = null;
  }

  /**
   * A turn of the event loop runs timers before it reads sockets. `setImmediate` lets a response that arrived in time,
   * while the loop was blocked, be read before the deadline ends.
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

/** Starts a deadline after `timeoutMs`. `lateness` returns how late the present turn of the event loop is, milliseconds. */
export function startDeadline(clock: Clock, timeoutMs: number, lateness: () => number = neverLate): Deadline {
  return new Deadline(clock, timeoutMs, lateness);
}

const neverLate = () => 0;
