/**
 * The actor of one service: its scheduling state, and a pure function from a message to the next state. It is idle, makes an
 * attempt, or waits for the next attempt of a check that has failed so far. The status of the service is kept by the record.
 */
import type { Step } from '../../actor/actor-group.ts';
import {
  type CheckTarget,
  type CheckTiming,
  isSameCheck,
  isSameTiming,
  timingOf,
} from '../../domain/check-target.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import type { Attempt, CheckResult, SuspectReason } from '../../domain/result.ts';
import { dueAfterCheck, nextPhase, shiftOf } from './phase.ts';

/** State of an actor. Times are epoch milliseconds. */
export interface ProbeState {
  /** The newest definition with the current probe memory. */
  readonly target: CheckTarget;
  /** No check before this time, set by a 429 or by a crash of the thread in the last check; 0: none. */
  readonly notBefore: number;
  /** Null: idle. */
  readonly check: OpenCheck | null;
}

export interface OpenCheck {
  /** The definition at its start. */
  readonly target: CheckTarget;
  /** Number of the current or next attempt, from 0. */
  readonly attempt: number;
  /** False: between two attempts. */
  readonly attempting: boolean;
  /** Start of the first failed attempt; null: none has failed. */
  readonly firstFailedAt: number | null;
  /** That attempt was a HEAD, which may itself be the reason; the next attempt shows it. */
  readonly headUnproven: boolean;
  /** The clock offset at that time. */
  readonly clockOffset: number;
  /** An own fault in a failed attempt; null: none. */
  readonly suspect: SuspectReason | null;
  /** Attempts that were spoilt by a late event loop; they were repeated and do not count. */
  readonly repeats: number;
  /** An attempt failed without a response, and `doubt` was sent. */
  readonly doubted: boolean;
  readonly worstLoopDelayMs: number;
}

/** Messages to an actor. Times are epoch milliseconds. */
export type ProbeMessage =
  /** A check, or its next attempt, is due. */
  | { readonly type: 'due' }
  /** The attempt with this target has ended. */
  | {
      readonly type: 'attempted';
      readonly target: CheckTarget;
      readonly attempt: Attempt;
      /** Our own event loop may have caused its outcome. */
      readonly spoilt: boolean;
      readonly now: number;
      /** Wall time minus monotonic time, milliseconds; it changes when the wall clock is set. */
      readonly clockOffset: number;
      readonly loopDelayMs: number;
    }
  /** The attempt with this target was aborted; it gives no verdict. */
  | { readonly type: 'aborted'; readonly target: CheckTarget }
  /** The attempt with this target must be made at another time; it does not count. */
  | { readonly type: 'postponed'; readonly target: CheckTarget; readonly at: number }
  /** The attempt with this target met a bug of this program; it gives no verdict. */
  | {
      readonly type: 'broken';
      readonly target: CheckTarget;
      readonly startedAt: number;
      readonly now: number;
    }
  /**
   * The definition has changed. If the check is another one, it is due at `soonAt`. If only its interval is, it is due at
   * the next phase of the new interval after `now`.
   */
  | { readonly type: 'defined'; readonly target: CheckTarget; readonly soonAt: number; readonly now: number }
  /** Another check is due at this time, unless one is in progress. */
  | { readonly type: 'recheck'; readonly at: number };

export type ProbeEffect =
  | { readonly type: 'attempt'; readonly target: CheckTarget; readonly number: number }
  /** Send `due` at this time only. */
  | { readonly type: 'wake'; readonly at: number }
  /** Send `due` at this time, unless it is scheduled earlier. */
  | { readonly type: 'hasten'; readonly at: number }
  | { readonly type: 'report'; readonly result: CheckResult }
  | { readonly type: 'doubt'; readonly failedAt: number };

/** Rules of an actor; durations in milliseconds. The times are those of services that set none. */
export interface ProbeRules extends CheckTiming {
  /** By how much the phases of services with the usual interval are shifted, now; absent: not. */
  readonly phaseShiftMs?: () => number;
}

type ProbeStep = Step<ProbeState, ProbeEffect>;
type Attempted = Extract<ProbeMessage, { type: 'attempted' }>;
type Broken = Extract<ProbeMessage, { type: 'broken' }>;
type Defined = Extract<ProbeMessage, { type: 'defined' }>;

/** Maximum delay of the next check by a 429 (decisions, "What a check is"). */
const MAX_WAIT_MS = HOUR_MS;
/** A wall clock that differs by this from the monotonic clock was set, milliseconds. */
const CLOCK_SET_MS = 1_000;
/** Maximum number of repeats of spoilt attempts in a check; one more ends it without a verdict. */
const MAX_REPEATS = 3;

export function idleProbe(target: CheckTarget, notBefore = 0): ProbeState {
  return { target, notBefore, check: null };
}

/** Creates the pure function of all actors of a host. */
export function createProbeHandler(
  rules: ProbeRules,
): (state: ProbeState, message: ProbeMessage) => ProbeStep {
  return (state, message) => {
    const { check } = state;
    switch (message.type) {
      case 'due':
        return begin(state);
      case 'attempted':
        // An attempt from before the service was removed and added again is ignored.
        return check?.target === message.target ? conclude(state, check, message, rules) : unchanged(state);
      case 'aborted':
        return check?.target === message.target ? unchanged({ ...state, check: null }) : unchanged(state);
      case 'postponed':
        return check?.target === message.target ? postpone(state, check, message.at) : unchanged(state);
      case 'broken':
        return check?.target === message.target ? skip(state, message, rules) : unchanged(state);
      case 'defined':
        return redefine(state, message, rules);
      case 'recheck':
        return check === null ? hasten(state, message.at) : unchanged(state);
    }
  };
}

function unchanged(state: ProbeState): ProbeStep {
  return { state, effects: [] };
}

function hasten(state: ProbeState, at: number): ProbeStep {
  return { state, effects: [{ type: 'hasten', at: Math.max(at, state.notBefore) }] };
}

function begin(state: ProbeState): ProbeStep {
  const { target } = state;
  if (state.check?.attempting) return unchanged(state);
  const check: OpenCheck =
    state.check === null
      ? {
          target,
          attempt: 0,
          attempting: true,
          firstFailedAt: null,
          headUnproven: false,
          clockOffset: 0,
          suspect: null,
          repeats: 0,
          doubted: false,
          worstLoopDelayMs: 0,
        }
      : { ...state.check, attempting: true };
  return {
    state: { ...state, check },
    effects: [{ type: 'attempt', target: check.target, number: check.attempt }],
  };
}

function redefine(state: ProbeState, message: Defined, rules: ProbeRules): ProbeStep {
  const { target, soonAt, now } = message;
  const { check, notBefore } = state;
  if (isSameCheck(state.target, target)) {
    const next = { ...state, target: { ...target, memory: state.target.memory } };
    // The end of an attempt in flight plans what follows by the new definition.
    if (isSameTiming(state.target.check, target.check) || check?.attempting) return unchanged(next);
    if (check !== null) return restart(next, soonAt);
    const { intervalMs } = timingOf(target.check, rules);
    if (intervalMs === timingOf(state.target.check, rules).intervalMs) return unchanged(next);
    // Within the new interval, whatever was left of the old one.
    const at = nextPhase(target.serviceId, intervalMs, now, shiftFor(intervalMs, rules));
    // A service without a check is part of the first sweep, which is not postponed.
    if (target.lastCheckedAt === null) return hasten(next, at);
    return { state: next, effects: [{ type: 'wake', at: Math.max(at, notBefore) }] };
  }
  if (check === null) return hasten({ ...state, target }, soonAt);
  // An attempt in flight ends first. A check that waits for its next attempt by the old definition is dropped.
  if (check.attempting) return unchanged({ ...state, target });
  return restart({ ...state, target }, soonAt);
}

/** Drops a check that waits for its next attempt, and begins another one. */
function restart(state: ProbeState, at: number): ProbeStep {
  return {
    state: { ...state, check: null },
    effects: [{ type: 'wake', at: Math.max(at, state.notBefore) }],
  };
}

/** The shift of the phases of services with an interval. */
function shiftFor(intervalMs: number, { phaseShiftMs, intervalMs: usualMs }: ProbeRules): number {
  return shiftOf(phaseShiftMs?.() ?? 0, usualMs, intervalMs);
}

/** Ends a check without a verdict. The next one is at its phase; a new definition is checked at once. */
function skip({ target }: ProbeState, message: Broken, rules: ProbeRules): ProbeStep {
  const { startedAt, now } = message;
  const { serviceId } = target;
  const { intervalMs } = timingOf(target.check, rules);
  const phase = dueAfterCheck(serviceId, intervalMs, startedAt, now, shiftFor(intervalMs, rules));
  const at = isSamePlan(target, message.target) ? phase : now;
  return { state: idleProbe(target), effects: [{ type: 'wake', at }] };
}

function conclude(state: ProbeState, check: OpenCheck, message: Attempted, rules: ProbeRules): ProbeStep {
  // A service with a 429 or a bot wall is not requested again at once.
  const repeats = message.spoilt && !message.attempt.blocked && check.repeats < MAX_REPEATS;
  if (repeats) return repeat(state, check, message);
  const { spoilt, now } = message;
  const attempt: Attempt = spoilt ? { ...message.attempt, suspect: 'loop_late' } : message.attempt;
  const { serviceId } = check.target;
  const failed = isFailed(attempt) && !spoilt;
  const isCurrent = isSameCheck(state.target, check.target);
  const isPlanned = isSamePlan(state.target, check.target);
  const target =
    isCurrent && state.target.memory !== attempt.memory
      ? { ...state.target, memory: attempt.memory }
      : state.target;
  const suspect = failed ? (attempt.suspect ?? check.suspect) : attempt.suspect;
  const knownAt = moveWithClock(check.firstFailedAt, message.clockOffset - check.clockOffset);
  // A GET that fails after a response shows that the missing response to HEAD was another failure.
  const isFirst = knownAt === null || (check.headUnproven && !isMissingResponse(attempt));
  const firstFailedAt = failed && isFirst ? attempt.startedAt : knownAt;
  const worstLoopDelayMs = Math.max(check.worstLoopDelayMs, message.loopDelayMs);
  // The control targets are requested while the failure is confirmed (decisions, offline rule), also for an own fault,
  // such as an unreachable network.
  const doubts = failed && !attempt.answered && !check.doubted;
  const doubt: ProbeEffect[] = doubts ? [{ type: 'doubt', failedAt: attempt.startedAt }] : [];
  const waitMs = timingOf(check.target.check, rules).confirmAfterMs[check.attempt];
  if (failed && waitMs !== undefined) {
    // An unconfirmed failure of an old definition gives no verdict; the service is checked by the new one.
    if (!isPlanned) return { state: idleProbe(target), effects: [{ type: 'wake', at: now }, ...doubt] };
    const waiting: OpenCheck = {
      target: { ...check.target, memory: attempt.memory },
      attempt: check.attempt + 1,
      attempting: false,
      firstFailedAt,
      headUnproven: attempt.headUnproven,
      clockOffset: message.clockOffset,
      suspect,
      repeats: check.repeats,
      doubted: check.doubted || doubts,
      worstLoopDelayMs,
    };
    return {
      state: { target, notBefore: 0, check: waiting },
      effects: [{ type: 'wake', at: now + waitMs }, ...doubt],
    };
  }
  const result: CheckResult = {
    ...attempt,
    suspect,
    serviceId,
    // What has changed meanwhile may be no more than the name.
    revision: (isPlanned ? state.target : check.target).revision,
    attempts: check.attempt + 1,
    firstFailedAt,
    endedAt: now,
    loopDelayMs: worstLoopDelayMs,
  };
  const notBefore = attempt.retryAfterMs === null ? 0 : now + Math.min(attempt.retryAfterMs, MAX_WAIT_MS);
  const { intervalMs } = timingOf(target.check, rules);
  const shiftMs = shiftFor(intervalMs, rules);
  const phase = dueAfterCheck(serviceId, intervalMs, attempt.startedAt, now, shiftMs);
  // The record drops the result of an old definition, so that a new check is due at once.
  const wanted = isPlanned ? phase : now;
  const at = notBefore > wanted ? nextPhase(serviceId, intervalMs, notBefore, shiftMs) : wanted;
  return {
    state: idleProbe(target, notBefore),
    effects: [...doubt, { type: 'report', result }, { type: 'wake', at }],
  };
}

/**
 * Returns true if two definitions of a service have the same check with the same times, so that the result of one is that of
 * the other.
 */
function isSamePlan(a: CheckTarget, b: CheckTarget): boolean {
  return isSameCheck(a, b) && isSameTiming(a.check, b.check);
}

/**
 * A time on a wall clock that was set by `setByMs`, so that the parts of a check keep their distance. Null stays null; drift
 * of the clock is ignored.
 */
export function moveWithClock<T extends number | null>(at: T, setByMs: number): T | number {
  return at === null || Math.abs(setByMs) < CLOCK_SET_MS ? at : at + Math.round(setByMs);
}

/** Repeats a spoilt attempt at once. */
function repeat(state: ProbeState, check: OpenCheck, { now, loopDelayMs }: Attempted): ProbeStep {
  const wake: ProbeEffect = { type: 'wake', at: now };
  if (!isSameCheck(state.target, check.target)) return { state: idleProbe(state.target), effects: [wake] };
  const again: OpenCheck = {
    ...check,
    attempting: false,
    repeats: check.repeats + 1,
    worstLoopDelayMs: Math.max(check.worstLoopDelayMs, loopDelayMs),
  };
  return { state: { ...state, check: again }, effects: [wake] };
}

/** Makes the same attempt later. What was found before it stays; a new definition is checked in its place. */
function postpone(state: ProbeState, check: OpenCheck, at: number): ProbeStep {
  const isFirst = check.firstFailedAt === null && check.repeats === 0;
  if (isFirst || !isSamePlan(state.target, check.target)) return restart(state, at);
  return {
    state: { ...state, check: { ...check, attempting: false } },
    effects: [{ type: 'wake', at: Math.max(at, state.notBefore) }],
  };
}

/** Returns true if an attempt failed because no response arrived over a working connection. */
function isMissingResponse({ failure, answered }: Attempt): boolean {
  return !answered && failure?.phase === 'first_byte';
}

/** Returns true if an attempt counts as failed and is confirmed: a failure, or a body that reports `down`. */
function isFailed(attempt: Attempt): boolean {
  return (attempt.failure !== null || attempt.reported === 'down') && !attempt.blocked;
}
