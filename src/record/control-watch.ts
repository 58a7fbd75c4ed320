/** Queries the control targets when there is a doubt whether the prober is online. */
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
/** A query without a response by then counts as unanswered. Only time in which our event loop ran counts. */
const QUERY_TIMEOUT_MS = 3_000;
/** While offline the targets are queried again after 1 s, 2 s, 4 s, and then every 5 s. */
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 5_000;
/**
 * The first response to a query that takes this much longer than usual was delayed by our own connection: a lost SYN
 * is repeated after 1 s (RFC 6298, 2.1). Only time in which our event loop ran counts.
 */
const LATE_RESPONSE_MS = 800;
/**
 * Unanswered queries that only delays caused are repeated for this long. By then an outage of ours has made an attempt
 * fail; without a failure the control targets are unavailable, and not our connection.
 */
const MAX_UNPROVEN_MS = 10_000;

/** What the watch needs. */
export interface ControlWatchOptions extends ConnectionWatchOptions {
  /** Number of control targets, at least 1; for the text of the reason. */
  readonly controlTargets: number;
  /** True: at least one control target responded. A rejection counts as no. */
  readonly ask: () => Promise<boolean>;
}

/**
 * Watches by queries: the prober is offline from a query to which no control target responds until one does. An outage
 * that is too short to fail an attempt delays it. A delayed attempt causes a query too: if the response is as late, or
 * comes to a later query only, the delay is ours.
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
  /** Times in which responses to queries were late. */
  const delays = createSpanLog(clock);
  const backoff = createBackoff(FIRST_BACKOFF_MS, MAX_BACKOFF_MS);
  let stopped = false;
  let cancelTimer = (): void => {};
  let planned = false;
  /** Start of the query in flight; null: none is. */
  let inFlightAt: number | null = null;
  let lastQueryAt = Number.NEGATIVE_INFINITY;
  /** Start of the newest query that was answered. */
  let goodAt = Number.NEGATIVE_INFINITY;
  /** An answer is needed to a query that starts at this time or later. */
  let wantedAt = Number.NEGATIVE_INFINITY;
  /** The earliest doubt since the newest good answer: an outage may have begun then. */
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
      unansweredFrom = null;
      // It may have begun with the doubt that caused the query, but not before the last proof of the contrary.
      outages.begin(Math.max(goodAt, Math.min(startedAt, firstDoubtAt)));
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
/** Of the lateness of a tick, at most this much counts. */
const MAX_LATE_MS = 50;

/**
 * Runs `task` after `delayMs` in which the event loop ran. After it was blocked, it first reads what has arrived
 * meanwhile: an iteration of the loop runs timers before it reads sockets.
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
      // Timers may come up to a millisecond early.
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
