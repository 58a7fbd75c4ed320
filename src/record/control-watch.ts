/** Asks the control targets whether the prober is online, and as seldom as can be. */
import type { Clock } from '../clock.ts';
import { formatTimeOrNull } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import type { ConnectionWatch, ConnectionWatchOptions } from './connection-watch.ts';
import { afterLoopTime } from './loop-timer.ts';
import { createOutageLog } from './outage-log.ts';

/** One question serves all failures of the same 2 s (decisions). */
const QUESTION_PERIOD_MS = 2_000;
/**
 * A question without an answer by then has the answer no (architecture, The record). Only time in which our event loop
 * turned counts.
 */
const QUESTION_LIMIT_MS = 3_000;
/** While offline the targets are asked again after 1 s, 2 s, 4 s, and then every 5 s. */
const FIRST_BACK_OFF_MS = 1_000;
const MAX_BACKOFF_MS = 5_000;
/**
 * The first response to a question that takes this much longer than usual was held up by our own connection: a lost
 * SYN is repeated after 1 s (RFC 6298, 2.1). Only time in which our event loop turned counts.
 */
const LATE_RESPONSE_MS = 800;
/**
 * Unanswered questions that only delays have raised are repeated for this long. By then an outage of ours has made an
 * attempt fail; without a failure the control targets are gone, and not our connection.
 */
const MAX_UNPROVEN_MS = 10_000;

/** What the watch needs. */
export interface ControlWatchOptions extends ConnectionWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Control targets configured, at least 1; for the reason that people read. */
  readonly controlTargets: number;
  /** True: at least one control target answered. A rejection counts as no. */
  readonly ask: () => Promise<boolean>;
}

/**
 * Watches by questions: the prober is offline from a question that none answers until one answers. An outage that is
 * too short to fail an attempt delays it. A delayed attempt raises a question too; where its response is as late, or a
 * later question is answered and it was not, the delay is ours.
 */
export function createControlWatch(options: ControlWatchOptions): ConnectionWatch {
  const { clock, log, ask, onChange } = options;
  const outages = createOutageLog(clock);
  /** Times in which responses to questions were late. */
  const delays = createOutageLog(clock);
  const reason =
    options.controlTargets === 1
      ? 'the control target does not answer'
      : `none of the ${options.controlTargets} control targets answers`;
  let stopped = false;
  let cancelTimer = (): void => {};
  let planned = false;
  /** When the question that is on its way was asked; null: none is. */
  let inFlightAt: number | null = null;
  let lastAskedAt = Number.NEGATIVE_INFINITY;
  /** When the newest question that was answered had been asked. */
  let goodAt = Number.NEGATIVE_INFINITY;
  /** Somebody needs an answer to a question asked at or after this. */
  let wantedAt = Number.NEGATIVE_INFINITY;
  /** The earliest doubt since the newest good answer: an outage may have begun then. */
  let firstDoubtAt = Number.POSITIVE_INFINITY;
  let backOffMs = FIRST_BACK_OFF_MS;
  /** How long the first response to a question usually takes; null: not known yet. */
  let usualMs: number | null = null;
  /** When the oldest of the questions was asked that only delays had raised and none answered; null: there is none. */
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
    if (!outages.open && wantedAt <= goodAt) return;
    const isRepeat = outages.open || unansweredFrom !== null;
    const delayMs = isRepeat ? backOffMs : lastAskedAt + QUESTION_PERIOD_MS - clock.monotonic();
    if (delayMs <= 0) {
      put();
    } else {
      planned = true;
      cancelTimer = clock.after(delayMs, put);
    }
  }

  function put(): void {
    planned = false;
    const askedAt = clock.monotonic();
    inFlightAt = askedAt;
    lastAskedAt = askedAt;
    let settled = false;
    let isLate = false;
    const settle = (answered: boolean): void => {
      if (settled || stopped) return;
      settled = true;
      cancelTimer();
      if (answered && isLate) delays.note(askedAt, clock.monotonic());
      conclude(askedAt, answered);
    };
    const cancelLimit = afterLoopTime(clock, QUESTION_LIMIT_MS, () => settle(false));
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

  function conclude(askedAt: number, answered: boolean): void {
    inFlightAt = null;
    if (answered) {
      if (outages.open) {
        log.info({ offlineSince: formatTimeOrNull(outages.since) }, 'the prober is online again');
        outages.end();
      } else if (unansweredFrom !== null) {
        outages.note(unansweredFrom, clock.monotonic());
      }
      unansweredFrom = null;
      const tookMs = clock.monotonic() - askedAt;
      usualMs = usualMs === null || tookMs < usualMs ? tookMs : usualMs + (tookMs - usualMs) / 4;
      goodAt = askedAt;
      firstDoubtAt = Number.POSITIVE_INFINITY;
      backOffMs = FIRST_BACK_OFF_MS;
    } else if (outages.open) {
      backOffMs = Math.min(backOffMs * 2, MAX_BACKOFF_MS);
    } else if (firstDoubtAt === Number.POSITIVE_INFINITY) {
      unansweredFrom ??= askedAt;
      if (clock.monotonic() - unansweredFrom >= MAX_UNPROVEN_MS) {
        unansweredFrom = null;
        wantedAt = goodAt;
      }
    } else {
      unansweredFrom = null;
      // It may have begun with the doubt that made us ask, but not before the last proof of the contrary.
      outages.begin(Math.max(goodAt, Math.min(askedAt, firstDoubtAt)));
      log.warn(
        { offlineSince: formatTimeOrNull(outages.since) },
        `the prober is offline: ${reason}; nothing is marked down`,
      );
    }
    onChange();
    plan();
  }

  return {
    get online() {
      return !outages.open;
    },
    get offlineSince() {
      return outages.since;
    },
    get reason() {
      return outages.open ? reason : null;
    },
    doubt: (failedAt) => want(Math.min(failedAt, clock.monotonic())),
    noteDelay: () => wantSince(clock.monotonic()),
    note() {},
    rule(span) {
      if (outages.overlaps(span.beganAt, span.endedAt) || outages.open) return 'own';
      if (span.provenFrom <= goodAt) return 'clear';
      want(span.provenFrom);
      return 'wait';
    },
    ruleSlow(span) {
      const { beganAt, endedAt } = span;
      if (outages.open || outages.overlaps(beganAt, endedAt) || delays.overlaps(beganAt, endedAt))
        return 'own';
      return wantedAt > goodAt ? 'wait' : 'clear';
    },
    ruleMissedHeartbeat() {
      if (outages.open) return 'own';
      const now = clock.monotonic();
      // As for failures, one question serves all silences of the same 2 s.
      if (goodAt >= now - QUESTION_PERIOD_MS) return 'clear';
      want(now);
      return 'wait';
    },
    overlapsOutage: (span) => outages.overlaps(span.beganAt, span.endedAt),
    stop() {
      stopped = true;
      cancelTimer();
    },
  };
}
