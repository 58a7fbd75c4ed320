/** Asks the control targets whether the prober is online, and as seldom as can be. */
import type { Clock } from '../clock.ts';
import { formatTimeOrNull } from '../domain/durations.ts';
import type { Log } from '../log.ts';
import { afterTurning } from './after-turning.ts';
import { createOutageLog } from './outage-log.ts';
import type { ProberWatch, ProberWatchOptions } from './prober-watch.ts';

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

/** What the watch needs. */
export interface ControlWatchOptions extends ProberWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Control targets configured, at least 1; for the reason that people read. */
  readonly controlTargets: number;
  /** True: at least one control target answered. A rejection counts as no. */
  readonly ask: () => Promise<boolean>;
}

/** Watches by questions: the prober is offline from a question that none answers until one answers. */
export function createControlWatch(options: ControlWatchOptions): ProberWatch {
  const { clock, log, ask, onChange } = options;
  const outages = createOutageLog(clock);
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

  function want(at: number): void {
    wantedAt = Math.max(wantedAt, at);
    firstDoubtAt = Math.min(firstDoubtAt, at);
    plan();
  }

  function plan(): void {
    if (stopped || planned || inFlightAt !== null) return;
    if (!outages.open && wantedAt <= goodAt) return;
    const delayMs = outages.open ? backOffMs : lastAskedAt + QUESTION_PERIOD_MS - clock.monotonic();
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
    const settle = (answered: boolean): void => {
      if (settled || stopped) return;
      settled = true;
      cancelLimit();
      conclude(askedAt, answered);
    };
    const cancelLimit = afterTurning(clock, QUESTION_LIMIT_MS, () => settle(false));
    cancelTimer = cancelLimit;
    Promise.resolve()
      .then(ask)
      .then(settle, (error: unknown) => {
        log.debug({ error }, 'the control targets could not be asked');
        settle(false);
      });
  }

  function conclude(askedAt: number, answered: boolean): void {
    inFlightAt = null;
    if (answered) {
      if (outages.open) {
        log.info({ offlineSince: formatTimeOrNull(outages.since) }, 'the prober is online again');
        outages.end();
      }
      goodAt = askedAt;
      firstDoubtAt = Number.POSITIVE_INFINITY;
      backOffMs = FIRST_BACK_OFF_MS;
    } else if (outages.open) {
      backOffMs = Math.min(backOffMs * 2, MAX_BACKOFF_MS);
    } else {
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
    note() {},
    rule(span) {
      if (outages.overlaps(span.beganAt, span.endedAt) || outages.open) return 'own';
      if (span.provenFrom <= goodAt) return 'clear';
      want(span.provenFrom);
      return 'wait';
    },
    ruleSlow(span) {
      if (outages.open || outages.overlaps(span.beganAt, span.endedAt)) return 'own';
      // The question that somebody's failure has raised speaks for this one too; a delay alone raises none.
      return wantedAt > goodAt ? 'wait' : 'clear';
    },
    ruleSilence() {
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
