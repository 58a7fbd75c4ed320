/** Queries the control targets when the prober may be offline. */
import { createBackoff } from '../async/retry.ts';
import type { Cancel, Clock } from '../clock.ts';
import {
  type ConnectionWatch,
  type ConnectionWatchOptions,
  createOutageLog,
  createSpanLog,
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
 * The watch repeats unanswered queries for this long if only delayed attempts caused them. An outage of the prober
 * would have failed an attempt by then. Without a failed attempt, the control targets are unavailable and the
 * connection works.
 */
const MAX_UNPROVEN_MS = 10_000;

/** Options of the watch. */
export interface ControlWatchOptions extends ConnectionWatchOptions {
  /** Number of control targets, at least 1; for the text of the reason. */
  readonly controlTargets: number;
  /** True: at least one control target responded. A rejection counts as no. */
  readonly ask: () => Promise<boolean>;
}

/**
 * Watches the connection by queries. The prober is offline from the first query without a response until a control
 * target responds. An outage that is too short to fail an attempt still delays it, so a delayed attempt also causes a
 * query. If the response to that query is as late, or only a later query gets one, the prober's connection caused the
 * delay.
 */
export function createControlWatch(options: ControlWatchOptions): ConnectionWatch {
  const { clock, log, ask, onChange, controlTargets } = options;
  const outages = createOutageLog(
    clock,
    log,
    controlTargets === 1
      ? 'the control target does not answer'
      : `none of the ${controlTargets} control targets answers`,
  );
  /** Spans in which responses to queries were late. */
  const delays = createSpanLog(clock);
  const backoff = createBackoff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
  let stopped = false;
  let cancelTimer = (): void => {};
  let planned = false;
  /** Start of the query in flight; null: there is none. */
  let inFlightAt: number | null = null;
  let lastQueryAt = Number.NEGATIVE_INFINITY;
  /** Start of the newest query that was answered. */
  let goodAt = Number.NEGATIVE_INFINITY;
  /** A query that starts at this time or later must be answered. */
  let wantedAt = Number.NEGATIVE_INFINITY;
  /** Time of the first failed or delayed attempt since the newest good answer: an outage may have begun then. */
  let firstDoubtAt = Number.POSITIVE_INFINITY;
  /** How long the first response to a query usually takes, milliseconds; null: not known yet. */
  let usualMs: number | null = null;
  /** Start of the oldest unanswered query that only delays caused; null: there is none. */
  let unansweredFrom: number | null = null;

  function want(at: number): void {
    firstDoubtAt = Math.min(firstDoubtAt, at);
    wantSince(at);
  }

  function wantSince(at: number): void {
    wantedAt = Math.max(wantedAt, at);
    plan();
  }

  function plan(): void {
    if (stopped || planned || inFlightAt !== null) return;
    if (!outages.isOpen && wantedAt <= goodAt) return;
    const isRepeat = outages.isOpen || unansweredFrom !== null;
    const delayMs = isRepeat ? backoff.pauseMs : lastQueryAt + QUERY_PERIOD_MS - clock.monotonic();
    if (delayMs <= 0) {
      query();
    } else {
      planned = true;
      cancelTimer = clock.after(delayMs, query);
    }
  }

  function query(): void {
    planned = false;
    const startedAt = clock.monotonic();
    inFlightAt = startedAt;
    lastQueryAt = startedAt;
    let settled = false;
    let isLate = false;
    const settle = (answered: boolean): void => {
      if (settled || stopped) return;
      settled = true;
      cancelTimer();
      if (answered && isLate) delays.add({ fromAt: startedAt, untilAt: clock.monotonic() });
      conclude(startedAt, answered);
    };
    const cancelLimit = afterLoopTime(clock, QUERY_TIMEOUT_MS, () => settle(false));
    const cancelLate = afterLoopTime(clock, (usualMs ?? 0) + LATE_RESPONSE_MS, () => {
      isLate = true;
    });
    cancelTimer = () => {
      cancelLimit();
      cancelLate();
    };
    Promise.resolve()
      .then(ask)
      .then(settle, (error: unknown) => {
        log.debug({ error }, 'the control targets could not be queried');
        settle(false);
      });
  }

  function conclude(startedAt: number, answered: boolean): void {
    inFlightAt = null;
    if (answered) {
      if (outages.isOpen) outages.end();
      else if (unansweredFrom !== null) outages.add({ fromAt: unansweredFrom, untilAt: clock.monotonic() });
      unansweredFrom = null;
      const tookMs = clock.monotonic() - startedAt;
      usualMs = usualMs === null || tookMs < usualMs ? tookMs : usualMs + (tookMs - usualMs) / 4;
      goodAt = startedAt;
      firstDoubtAt = Number.POSITIVE_INFINITY;
      backoff.reset();
    } else if (outages.isOpen) {
      backoff.next();
    } else if (firstDoubtAt === Number.POSITIVE_INFINITY) {
      unansweredFrom ??= startedAt;
      if (clock.monotonic() - unansweredFrom >= MAX_UNPROVEN_MS) {
        unansweredFrom = null;
        wantedAt = goodAt;
      }
    } else {
      // The outage may have begun with the attempt that caused the query, or with an earlier query that only delays caused,
      // but not before the newest good answer.
      const firstSignAt = Math.min(unansweredFrom ?? startedAt, firstDoubtAt);
      unansweredFrom = null;
      outages.begin(Math.max(goodAt, firstSignAt));
    }
    onChange();
    plan();
  }

  return {
    outages,
    doubt: (failedAt) => want(Math.min(failedAt, clock.monotonic())),
    noteDelay: () => wantSince(clock.monotonic()),
    note() {},
    rule(span) {
      if (outages.isOpen || outages.overlaps(span)) return 'own';
      if (span.provenFrom <= goodAt) return 'clear';
      want(span.provenFrom);
      return 'wait';
    },
    ruleSlow(span) {
      if (outages.isOpen || outages.overlaps(span) || delays.overlaps(span)) return 'own';
      return wantedAt > goodAt ? 'wait' : 'clear';
    },
    ruleMissedHeartbeat() {
      if (outages.isOpen) return 'own';
      const now = clock.monotonic();
      // As for failures, one query serves all missed heartbeats of the same 2 s.
      if (goodAt >= now - QUERY_PERIOD_MS) return 'clear';
      want(now);
      return 'wait';
    },
    stop() {
      stopped = true;
      cancelTimer();
    },
  };
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
