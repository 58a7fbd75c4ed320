/**
 * The reference implementation's prober of one place: from attempts to checks, and which of them can be trusted. "D" is the
 * contract's page of decisions, "T" docs/truth.md, "G" docs/glossary.md. Times are monotonic milliseconds.
 */
import type { AttemptMade, DefinedService, Given, Instant } from '../diary.ts';
import { createReferenceMajority, type Trust } from './majority.ts';

export type Verdict = 'up' | 'slow' | 'down';

/** A check that has ended. */
export interface Ended {
  readonly service: number;
  /** Of the definition that it was made by. */
  readonly revision: number;
  readonly verdict: Verdict;
  readonly responded: boolean;
  /** Start and end of its last attempt. */
  readonly beganMs: number;
  readonly endedMs: number;
  /** Wall time minus monotonic time when it ended: a clock that is set later does not move it. */
  readonly clockOffset: number;
  readonly attempts: number;
  readonly firstFailedMs: number | null;
  /** The fault was the prober's own. */
  readonly isOurs: boolean;
}

/** A check, and whether it says something about the prober only. */
export interface Ruled {
  readonly ended: Ended;
  readonly isSuspect: boolean;
}

interface Open {
  readonly revision: number;
  firstFailedMs: number | null;
  failures: number;
  repeats: number;
  isOurs: boolean;
  isDoubted: boolean;
  /** When its next attempt has to begin; null: not known. */
  nextMs: number | null;
}

/** D: re-checks "2 s and 4 s after the failure before". */
const PAUSES_MS = [2_000, 4_000];
/** D: services affected "are all checked again on return, spread over `checks.firstSpread`", which is a minute here. */
const RETURN_MS = 60_000;
/** D: "429 makes the next checks of that service wait as `Retry-After` says, at most 1 hour". */
const MAX_WAIT_MS = 3_600_000;

/** The prober of a place. */
export type ReferenceProber = ReturnType<typeof createReferenceProber>;

/** Makes the prober of a place. */
export function createReferenceProber({ services, targets, places }: Given, startMs: number) {
  const countChecked = () => services.filter(({ beats, state }) => beats === null && state === 'live').length;
  const majority = targets > 0 ? null : createReferenceMajority(countChecked);
  const open = new Map<number, Open>();
  const faults: string[] = [];
  let held: { readonly ended: Ended; readonly takenMs: number }[] = [];
  /** Affected services, and by when they have to be checked again. */
  const affected = new Set<number>();
  const returning = new Map<number, number>();
  /** Services that have answered 429, and until when they are left alone. */
  const waiting = new Map<number, { readonly untilMs: number; clockIsSet: boolean }>();
  /** Definitions that were replaced. */
  const former: DefinedService[] = [];
  /** Services by the revision from which on their attempts count: they were paused or removed. */
  const countFrom = new Map<number, number>();
  /** Services that are checked by a new definition, or again, and by when they have to be checked. */
  const renewed = new Map<number, number>();
  const outages: { readonly fromMs: number; untilMs: number }[] = [];
  /** Start of the newest question that a control target has answered. */
  let goodMs = Number.NEGATIVE_INFINITY;
  /** What began at this time or before has to be followed by an answer. */
  let wantedMs = Number.NEGATIVE_INFINITY;
  /** The first failed attempt since the newest answer. */
  let doubtMs = Number.POSITIVE_INFINITY;
  /** The first unanswered question that no failure has caused. */
  let unansweredMs: number | null = null;

  const isOffline = (): boolean =>
    majority?.isOffline() ?? outages.at(-1)?.untilMs === Number.POSITIVE_INFINITY;

  function doubt(atMs: number): void {
    doubtMs = Math.min(doubtMs, atMs);
    wantedMs = Math.max(wantedMs, atMs);
  }

  /** The definition that an attempt was made by. */
  function definitionOf({ service, revision }: AttemptMade): DefinedService | undefined {
    return former.find((one) => one.id === service && one.revision === revision) ?? services[service - 1];
  }

  /** D: "HEAD ..., judged by latency"; "429 and any answer with `cf-mitigated` are never down". */
  function verdictOf(made: AttemptMade, tookMs: number): Verdict {
    const { slowOverMs = 3_000 } = definitionOf(made) ?? {};
    if (!made.blocked && (made.failed || made.word === 'down')) return 'down';
    if (!made.blocked && made.word === 'slow') return 'slow';
    // D: "Exactly 3,000 ms is `up`".
    return made.responded && tookMs > slowOverMs ? 'slow' : 'up';
  }

  /** D: a late loop spoils "a time-out, if ...; a `slow`, by the length of the delay. It never spoils" anything else. */
  function isSpoilt(made: AttemptMade, verdict: Verdict): boolean {
    // Data that arrived during a delay of up to 5 s is read before the time-out (T).
    if (verdict === 'down') return made.timedOut && made.lostMs > 5_000;
    return verdict === 'slow' && verdictOf(made, made.tookMs - made.lostMs) === 'up';
  }

  /** An attempt has ended at `atMs`; returns the checks that are decided by it. */
  function attempt(made: AttemptMade & Instant, stoodUntilMs: number): readonly Ruled[] {
    const { service, revision, beganMs, ms: atMs } = made;
    if (revision < (countFrom.get(service) ?? 0)) return [];
    const known = open.get(service);
    const check = known?.revision === revision ? known : freshCheck(revision);
    // G: "a result that was made by an older definition of the check is discarded".
    const present = services[service - 1];
    const isOld =
      present?.revision !== revision &&
      (present?.state !== 'live' || present.plan !== definitionOf(made)?.plan);
    open.set(service, check);
    if (check.nextMs !== null && beganMs !== Math.max(check.nextMs, Math.min(beganMs, stoodUntilMs)))
      faults.push(`service ${service} was checked again at ${beganMs}, not at ${check.nextMs}`);
    const wait = waiting.get(service);
    if (wait !== undefined && !wait.clockIsSet && beganMs < wait.untilMs)
      faults.push(`service ${service} was checked at ${beganMs}, not after ${wait.untilMs}`);
    waiting.delete(service);
    returning.delete(service);
    if (!isOld) renewed.delete(service);
    check.nextMs = null;
    const verdict = verdictOf(made, made.tookMs);
    const spoilt = isSpoilt(made, verdict);
    // D: "A spoilt attempt is repeated at once and does not count"; at most three times (T), and not after a 429.
    if (spoilt && !made.blocked && check.repeats < 3) {
      check.repeats += 1;
      check.nextMs = atMs;
      if (definitionOf(made)?.target !== present?.target) open.delete(service);
      return [];
    }
    const failed = verdict === 'down' && !spoilt;
    if (failed) {
      check.firstFailedMs ??= beganMs;
      check.failures += 1;
      check.isOurs ||= made.ownFault;
      // D: control targets are "asked after the first failed attempt".
      if (!made.responded && !check.isDoubted) {
        check.isDoubted = true;
        doubt(beganMs);
      }
      // D: "confirmed by up to two re-checks ...; only if all fail is the service down".
      const pauseMs = PAUSES_MS[check.failures - 1];
      if (pauseMs !== undefined && isOld) {
        open.delete(service);
        return [];
      }
      if (pauseMs !== undefined) {
        check.nextMs = atMs + pauseMs;
        return [];
      }
    }
    open.delete(service);
    if (made.retryAfterMs !== null) {
      const untilMs = atMs + Math.min(made.retryAfterMs, MAX_WAIT_MS);
      waiting.set(service, { untilMs, clockIsSet: false });
    }
    const ended: Ended = {
      ...{ service, verdict, responded: made.responded, beganMs, endedMs: atMs },
      // What was changed, and changed back, is what was checked.
      revision: isOld ? revision : (present?.revision ?? revision),
      clockOffset: made.wall - atMs,
      ...{ attempts: check.failures + (failed ? 0 : 1), firstFailedMs: check.firstFailedMs },
      // D: "Faults of our own side are always suspect."
      isOurs: failed ? check.isOurs : made.ownFault || spoilt,
    };
    // A node does not know what the monitor discards.
    if (isOld && places === 1) return [];
    majority?.note(ended);
    return decide([{ ended, takenMs: atMs }], atMs);
  }

  /** Decides what can be decided; the rest is held. */
  function decide(
    results: readonly { readonly ended: Ended; readonly takenMs: number }[],
    atMs: number,
  ): readonly Ruled[] {
    const ruled: Ruled[] = [];
    for (const one of results) {
      const trust = majority?.trustOf(one.ended, one.takenMs, atMs) ?? trustOf(one.ended);
      if (trust === 'later') held.push(one);
      else {
        if (trust === 'offline') affected.add(one.ended.service);
        ruled.push({ ended: one.ended, isSuspect: trust === 'offline' || one.ended.isOurs });
      }
    }
    if (!isOffline()) {
      for (const service of affected)
        if (services[service - 1]?.state === 'live')
          returning.set(service, (results.at(-1)?.takenMs ?? 0) + RETURN_MS);
      affected.clear();
    }
    return ruled;
  }

  function trustOf({ verdict, responded, isOurs, beganMs, endedMs, attempts, firstFailedMs }: Ended): Trust {
    if (responded && (verdict === 'up' || isOurs)) return 'trusted';
    const fromMs = firstFailedMs ?? beganMs;
    const overlaps = outages.some((one) => one.fromMs <= endedMs && fromMs <= one.untilMs);
    // D: "If none answers, the prober is offline until one does: results are samples marked `suspect`".
    if (overlaps) return 'offline';
    if (responded) {
      // D: "A `slow` that overlaps an outage of the prober is suspect like a `down`": it waits while a question is open.
      return verdict === 'slow' && wantedMs > goodMs ? 'later' : 'trusted';
    }
    // D: "No `down` without an HTTP response is published until [a control target], asked after the first failed attempt, has answered."
    const provenMs = (attempts > 1 ? beganMs : endedMs) - 1;
    if (provenMs <= goodMs) return 'trusted';
    doubt(provenMs);
    return 'later';
  }

  /** A question of `askedMs` was answered, or not. */
  function control(askedMs: number, answered: boolean, atMs: number): readonly Ruled[] {
    if (answered) {
      const present = outages.at(-1);
      if (present !== undefined && isOffline()) present.untilMs = atMs;
      else if (unansweredMs !== null) outages.push({ fromMs: unansweredMs, untilMs: atMs });
      unansweredMs = null;
      goodMs = askedMs;
      doubtMs = Number.POSITIVE_INFINITY;
    } else if (!isOffline()) {
      if (doubtMs === Number.POSITIVE_INFINITY) {
        // Only delays caused the question: for 10 s nobody knows, then the control targets are at fault (T).
        unansweredMs ??= askedMs;
        if (atMs - unansweredMs >= 10_000) {
          unansweredMs = null;
          wantedMs = goodMs;
        }
      } else {
        const firstMs = Math.min(unansweredMs ?? askedMs, doubtMs);
        unansweredMs = null;
        outages.push({ fromMs: Math.max(goodMs, firstMs), untilMs: Number.POSITIVE_INFINITY });
      }
    }
    return decideHeld(atMs, answered);
  }

  function decideHeld(atMs: number, isBack: boolean): readonly Ruled[] {
    const results = held;
    held = [];
    const ruled = decide(results, atMs);
    if (isBack && !isOffline()) for (const [service] of returning) returning.set(service, atMs + RETURN_MS);
    return ruled;
  }

  return {
    attempt,
    control,
    doubt,
    isOffline,
    /** Without control targets: the next count of results; null: there is none. */
    nextCount: () => majority?.next() ?? null,
    count(atMs: number): readonly Ruled[] {
      const wasOffline = isOffline();
      majority?.count(atMs);
      const ruled = decideHeld(atMs, wasOffline);
      majority?.goOn(atMs);
      return ruled;
    },
    /** An attempt has been waiting for a second. */
    want(atMs: number): void {
      wantedMs = Math.max(wantedMs, atMs);
    },
    /** Whether a control target has answered within the last 2 s; if not, one is asked. */
    isProven(atMs: number): boolean {
      if (goodMs >= atMs - 2_000) return true;
      doubt(atMs);
      return false;
    },
    /** A service has another definition than before. */
    define(before: DefinedService, atMs: number): void {
      const { id } = before;
      const next = services[id - 1] as DefinedService;
      former.push(before);
      held = held.filter(({ ended }) => ended.service !== id);
      if (next.state !== 'live') {
        for (const map of [open, waiting, returning, renewed]) map.delete(id);
        countFrom.set(id, next.state === 'removed' ? Number.POSITIVE_INFINITY : next.revision);
        if (places > 1 || next.state === 'removed') affected.delete(id);
        return;
      }
      if (next.beats !== null) return;
      const byMs = atMs + next.intervalMs + RETURN_MS;
      const isRenewed = before.state !== 'live' || before.target !== next.target;
      if (isRenewed) renewed.set(id, byMs);
      else if (renewed.has(id) || before.intervalMs !== next.intervalMs) renewed.set(id, byMs);
      // The next phase of a new interval comes in its place.
      returning.delete(id);
    },
    /** The process stood still for so long, and checked nothing meanwhile. */
    stood(forMs: number): void {
      for (const obligations of [returning, renewed])
        for (const [service, byMs] of obligations) obligations.set(service, byMs + forMs);
    },
    /** The wall clock was set, so that services may be checked again earlier than they asked for. */
    clockSet(): void {
      for (const wait of waiting.values()) wait.clockIsSet = true;
    },
    /** What the program did not do in time, as of `atMs`. A service that is left alone is checked at its turn after that. */
    faults(atMs: number): readonly string[] {
      const late = [...returning, ...renewed].filter(([service, byMs]) => {
        const { intervalMs = 0 } = services[service - 1] ?? {};
        const leftAloneMs = (waiting.get(service)?.untilMs ?? Number.NEGATIVE_INFINITY) + intervalMs;
        return Math.max(byMs, leftAloneMs) + 1_000 < atMs;
      });
      return [
        ...faults,
        ...late.map(([service]) => `service ${service} was not checked again after ${startMs}`),
      ];
    },
  };
}

function freshCheck(revision: number): Open {
  return {
    ...{ revision, firstFailedMs: null, failures: 0, repeats: 0 },
    ...{ isOurs: false, isDoubted: false, nextMs: null },
  };
}
