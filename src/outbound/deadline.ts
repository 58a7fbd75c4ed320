/** The deadline of an operation, which is the only way to interrupt it. */
import type { Cancel, Clock } from '../clock.ts';
import { MAX_RETURNED_MS } from '../domain/result.ts';

/** Processing that takes less than this between an input and the next request is no delay, milliseconds. */
const MIN_PROCESSING_MS = 20;

/**
 * A running deadline. One stage of the operation runs at a time and sets `interrupt`. This is a class for speed,
 * because each attempt of a check creates one.
 */
export class Deadline {
  readonly timeoutMs: number;
  /** Monotonic milliseconds. */
  readonly startedAt: number;
  /** Why the deadline has ended; null: it is still running. */
  over: 'timeout' | 'aborted' | null = null;
  /**
   * Time lost to delays of our own event loop, milliseconds: an upper bound on how much earlier each step could have
   * run. Up to `MAX_RETURNED_MS` of it is added to the timeout.
   */
  lostMs = 0;
  /**
   * Called once when the deadline ends. The running stage sets it by {@link interruptBy}, since V8 allocates a function literal that
   * is assigned to a property in the old generation, and sets null when it is done.
   */
  interrupt: (() => void) | null = null;
  readonly #clock: Clock;
  readonly #lateness: () => number;
  readonly #totalDelay: () => number;
  #cancel: Cancel = () => {};
  #steppedAt: number;
  /** `#totalDelay()` at the last step; null: the next input takes one exchange with the server. */
  #delayAtStep: number | null = null;
  /** Time that passed before the operation began, milliseconds. */
  #beforeMs = 0;
  #closed = false;

  constructor(clock: Clock, timeoutMs: number, lateness: () => number, totalDelay: () => number) {
    this.timeoutMs = timeoutMs;
    this.#clock = clock;
    this.#lateness = lateness;
    this.#totalDelay = totalDelay;
    this.startedAt = clock.monotonic();
    this.#steppedAt = this.startedAt;
    this.#arm(timeoutMs);
  }

  /** Sets `interrupt`. False: the deadline has ended already, and `interrupt` has been called. */
  interruptBy(interrupt: () => void): boolean {
    if (this.over === null) this.interrupt = interrupt;
    else interrupt();
    return this.over === null;
  }

  /**
   * Call it when awaited input has arrived: a name, a connection, a handshake, headers. The input may have waited for
   * as long as the current iteration of the event loop was late. `handshake`: several exchanges with the server follow
   * until the next step, and any delay may hold up one of them.
   */
  step(handshake = false): void {
    const now = this.#clock.monotonic();
    this.lostMs += Math.min(Math.max(this.#lateness(), this.#handshakeDelay()), now - this.#steppedAt);
    this.#steppedAt = now;
    this.#delayAtStep = handshake ? this.#totalDelay() : null;
  }

  /**
   * Call it when the operation really begins, if nothing of it was awaited before. What we did since the start is given back, and is no
   * time that the target may have lost.
   */
  begun(): void {
    const now = this.#clock.monotonic();
    if (now - this.#steppedAt >= MIN_PROCESSING_MS) this.#beforeMs += now - this.#steppedAt;
    this.#steppedAt = now;
  }

  /** Call it when a request has been sent. The process may have been suspended between the last step and this call. */
  sent(): void {
    const now = this.#clock.monotonic();
    if (now - this.#steppedAt < MIN_PROCESSING_MS) return;
    this.lostMs += now - this.#steppedAt;
    this.#steppedAt = now;
  }

  /** Ends the deadline early, as an abort. */
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
   * An iteration of the event loop runs timers before it reads sockets. With `setImmediate`, a response that arrived in
   * time while the loop was blocked is read before the deadline ends.
   */
  #arm(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => setImmediate(() => this.#judge()));
  }

  #judge(): void {
    if (this.#closed || this.over !== null) return;
    const returnedMs = Math.min(this.#beforeMs + this.lostMs + this.#handshakeDelay(), MAX_RETURNED_MS);
    const leftMs = this.startedAt + this.timeoutMs + returnedMs - this.#clock.monotonic();
    // Timers may fire up to a millisecond early.
    if (leftMs >= 1) this.#arm(leftMs);
    else this.#end('timeout');
  }

  /** Delays since the beginning of the handshake in progress; 0: there is none. */
  #handshakeDelay(): number {
    return this.#delayAtStep === null ? 0 : this.#totalDelay() - this.#delayAtStep;
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

/**
 * Starts a deadline of `timeoutMs`. `lateness` returns how late the current iteration of the event loop is, and `totalDelay`
 * the sum of its delays so far, milliseconds.
 */
export function startDeadline(
  clock: Clock,
  timeoutMs: number,
  lateness: () => number = neverLate,
  totalDelay: () => number = neverLate,
): Deadline {
  return new Deadline(clock, timeoutMs, lateness, totalDelay);
}

const neverLate = () => 0;
