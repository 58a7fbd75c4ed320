/** Queries the control targets when the prober may be offline. */
import { createBackoff } from '../async/retry.ts';
import type { Cancel, Clock } from '../clock.ts';
import {
  type CheckSpan,
  type ConnectionWatch,
  type ConnectionWatchOptions,
  createOutageLog,
  createSpanLog,
  type OutageLog,
  type Ruling,
  type SpanLog,
} from './connection-watch.ts';

/** One query serves all failures of the same 2 s (decisions). */
const QUERY_PERIOD_MS = 2_000;
/** Timeout of a query. Only time in which the event loop ran counts. */
const QUERY_TIMEOUT_MS = 3_000;
/** While the prober is offline, the watch repeats the query after 1 s, 2 s, 4 s, and then every 5 s. */
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 5_000;
/**
 * A query whose first response takes this much longer than usual was delayed by the prober's own connection: a lost SYN
 * is repeated after 1 s (RFC 6298, 2.1). Only time in which the event loop ran counts.
 */
const LATE_RESPONSE_MS = 800;
/**
 * The watch repeats unanswered queries for this long if only delayed attempts caused them. An outage of the prober would have failed
 * an attempt by then. Without a failed attempt, the control targets are unavailable and the connection works.
 */
const MAX_UNPROVEN_MS = 10_000;

export interface ControlWatchOptions extends ConnectionWatchOptions {
  /** Number of control targets, at least 1; for the text of the reason. */
  readonly controlTargets: number;
  /** True: at least one control target responded. A rejection counts as no. */
  readonly ask: () => Promise<boolean>;
}

/**
 * `planned`: a query starts when its timer fires. `asking`: a query is in flight, and the next one waits for its end.
 * `stopped`: no query is started any more, and answers are ignored.
 */
type WatchState = 'resting' | 'planned' | 'asking' | 'stopped';

/**
 * Watches the connection by queries. The prober is offline from the first query without a response until a control target responds. An
 * outage that is too short to fail an attempt still delays it, so a delayed attempt also causes a query. If the response to that query
 * is as late, or only a later query gets one, the prober's connection caused the delay.
 */
export class ControlWatch implements ConnectionWatch {
  readonly #clock: ControlWatchOptions['clock'];
  readonly #log: ControlWatchOptions['log'];
  readonly #ask: () => Promise<boolean>;
  readonly #onChange: ControlWatchOptions['onChange'];
  /** Spans in which responses to queries were late. */
  readonly #delays: SpanLog;
  readonly #backoff = createBackoff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
  #state: WatchState = 'resting';
  #cancelTimer = (): void => {};
  #lastQueryAt = Number.NEGATIVE_INFINITY;
  /** Start of the newest query that was answered. */
  #goodAt = Number.NEGATIVE_INFINITY;
  /** A query that starts at this time or later must be answered. */
  #wantedAt = Number.NEGATIVE_INFINITY;
  /** Time of the first failed or delayed attempt since the newest good answer: an outage may have begun then. */
  #firstDoubtAt = Number.POSITIVE_INFINITY;
  /** The time that the first response to a query usually takes, milliseconds; null: not known yet. */
  #usualMs: number | null = null;
  /** Start of the oldest unanswered query that only delays caused; null: there is none. */
  #unansweredFrom: number | null = null;
  readonly outages: OutageLog;

  constructor(options: ControlWatchOptions) {
    const { clock, log, controlTargets } = options;
    this.#clock = clock;
    this.#log = log;
    this.#ask = options.ask;
    this.#onChange = options.onChange;
    this.outages = createOutageLog(
      clock,
      log,
      controlTargets === 1
        ? 'the control target does not answer'
        : `none of the ${controlTargets} control targets answers`,
    );
    this.#delays = createSpanLog(clock);
  }

  doubt(failedAt: number): void {
    this.#want(Math.min(failedAt, this.#clock.monotonic()));
  }

  noteDelay(): void {
    this.#wantSince(this.#clock.monotonic());
  }

  note(): void {}

  rule(span: CheckSpan): Ruling {
    if (this.outages.isOpen || this.outages.overlaps(span)) return 'own';
    if (span.provenFrom <= this.#goodAt) return 'clear';
    this.#want(span.provenFrom);
    return 'wait';
  }

  ruleSlow(span: CheckSpan): Ruling {
    if (this.outages.isOpen || this.outages.overlaps(span) || this.#delays.overlaps(span)) return 'own';
    return this.#wantedAt > this.#goodAt ? 'wait' : 'clear';
  }

  ruleMissedHeartbeat(): Ruling {
    if (this.outages.isOpen) return 'own';
    const now = this.#clock.monotonic();
    // As for failures, one query serves all missed heartbeats of the same 2 s.
    if (this.#goodAt >= now - QUERY_PERIOD_MS) return 'clear';
    this.#want(now);
    return 'wait';
  }

  stop(): void {
    this.#state = 'stopped';
    this.#cancelTimer();
  }

  #want(at: number): void {
    this.#firstDoubtAt = Math.min(this.#firstDoubtAt, at);
    this.#wantSince(at);
  }

  #wantSince(at: number): void {
    this.#wantedAt = Math.max(this.#wantedAt, at);
    this.#plan();
  }

  #plan(): void {
    if (this.#state !== 'resting') return;
    if (!this.outages.isOpen && this.#wantedAt <= this.#goodAt) return;
    const isRepeat = this.outages.isOpen || this.#unansweredFrom !== null;
    const delayMs = isRepeat
      ? this.#backoff.pauseMs
      : this.#lastQueryAt + QUERY_PERIOD_MS - this.#clock.monotonic();
    if (delayMs <= 0) {
      this.#query();
    } else {
      this.#state = 'planned';
      this.#cancelTimer = this.#clock.after(delayMs, () => this.#query());
    }
  }

  #query(): void {
    this.#state = 'asking';
    const startedAt = this.#clock.monotonic();
    this.#lastQueryAt = startedAt;
    let settled = false;
    let isLate = false;
    const settle = (answered: boolean): void => {
      if (settled || this.#state === 'stopped') return;
      settled = true;
      this.#cancelTimer();
      if (answered && isLate) this.#delays.add({ fromAt: startedAt, untilAt: this.#clock.monotonic() });
      this.#conclude(startedAt, answered);
    };
    const cancelLimit = afterLoopTime(this.#clock, QUERY_TIMEOUT_MS, () => settle(false));
    const cancelLate = afterLoopTime(this.#clock, (this.#usualMs ?? 0) + LATE_RESPONSE_MS, () => {
      isLate = true;
    });
    this.#cancelTimer = () => {
      cancelLimit();
      cancelLate();
    };
    Promise.resolve()
      .then(this.#ask)
      .then(settle, (error: unknown) => {
        this.#log.debug({ error }, 'the control targets could not be queried');
        settle(false);
      });
  }

  #conclude(startedAt: number, answered: boolean): void {
    this.#state = 'resting';
    if (answered) {
      if (this.outages.isOpen) this.outages.end();
      else if (this.#unansweredFrom !== null)
        this.outages.add({ fromAt: this.#unansweredFrom, untilAt: this.#clock.monotonic() });
      this.#unansweredFrom = null;
      const tookMs = this.#clock.monotonic() - startedAt;
      this.#usualMs =
        this.#usualMs === null || tookMs < this.#usualMs
          ? tookMs
          : this.#usualMs + (tookMs - this.#usualMs) / 4;
      this.#goodAt = startedAt;
      this.#firstDoubtAt = Number.POSITIVE_INFINITY;
      this.#backoff.reset();
    } else if (this.outages.isOpen) {
      this.#backoff.next();
    } else if (this.#firstDoubtAt === Number.POSITIVE_INFINITY) {
      this.#unansweredFrom ??= startedAt;
      if (this.#clock.monotonic() - this.#unansweredFrom >= MAX_UNPROVEN_MS) {
        this.#unansweredFrom = null;
        this.#wantedAt = this.#goodAt;
      }
    } else {
      // The outage may have begun with the attempt that caused the query, or with an earlier query that only delays caused,
      // but not before the newest good answer.
      const firstSignAt = Math.min(this.#unansweredFrom ?? startedAt, this.#firstDoubtAt);
      this.#unansweredFrom = null;
      this.outages.begin(Math.max(this.#goodAt, firstSignAt));
    }
    this.#onChange();
    this.#plan();
  }
}

const TICK_MS = 500;
/** Upper bound of the lateness that is counted for one tick, milliseconds. */
const MAX_LATE_MS = 50;

/**
 * Runs `task` after `delayMs` in which the event loop ran. If the loop was blocked, it reads its sockets before `task`
 * runs, although an iteration of the loop runs timers first.
 */
export function afterLoopTime(clock: Clock, delayMs: number, task: () => void): Cancel {
  let leftMs = delayMs;
  let isCancelled = false;
  let cancelTimer: Cancel = () => {};
  const wait = (): void => {
    const sinceMs = clock.monotonic();
    const tickMs = Math.min(leftMs, TICK_MS);
    cancelTimer = clock.after(tickMs, () => {
      leftMs -= Math.min(clock.monotonic() - sinceMs, tickMs + MAX_LATE_MS);
      // Timers may fire up to a millisecond early.
      if (leftMs >= 1) wait();
      else setImmediate(() => !isCancelled && task());
    });
  };
  wait();
  return () => {
    isCancelled = true;
    cancelTimer();
  };
}
