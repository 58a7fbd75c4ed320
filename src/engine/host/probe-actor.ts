/**
 * The actor of one service: plain scheduling memory, and a pure function from a message to the next state.
 * It rests, makes an attempt, or waits for the next attempt of a check that has failed so far.
 * It never holds the service's status; that is the record's.
 */

import type { Step } from '../../actor/actor-group.ts';
import { type CheckTarget, isSameCheck } from '../../domain/check-target.ts';
import { HOUR_MS } from '../../domain/durations.ts';
import type { Attempt, CheckResult, SuspectReason } from '../../domain/result.ts';
import { dueAfterCheck, nextPhase } from './phase.ts';

/** What an actor remembers. Times are epoch milliseconds. */
export interface ProbeState {
  /** The newest definition, with what the service has taught since. */
  readonly target: CheckTarget;
  /** It asked (429) to be left alone until then, or its thread died in its last check; 0: neither. */
  readonly notBefore: number;
  /** Null: at rest. */
  readonly check: OpenCheck | null;
}

/** A check under way. */
export interface OpenCheck {
  /** The definition that it began with. */
  readonly target: CheckTarget;
  /** Number of the attempt that is under way or comes next, from 0. */
  readonly attempt: number;
  /** False: between two attempts. */
  readonly attempting: boolean;
  /** Start of the first failed attempt; null: none has failed. */
  readonly firstFailedAt: number | null;
  /** That one was a HEAD, which may have failed for being one: the next attempt tells. */
  readonly headUnproven: boolean;
  /** The clock offset by which that is. */
  readonly clockOffset: number;
  /** Our own fault in a failed attempt; null: none. */
  readonly suspect: SuspectReason | null;
  /** Attempts that a late event loop spoilt; they were repeated and do not count. */
  readonly repeats: number;
  /** An attempt failed without a response, and that was told. */
  readonly doubted: boolean;
  readonly worstLoopDelayMs: number;
}

/** What an actor can be told. Times are epoch milliseconds. */
export type ProbeMessage =
  /** Its time has come: for a check, or for the next attempt of one. */
  | { readonly type: 'due' }
  /** The attempt that was asked for with this target has ended. */
  | {
      readonly type: 'attempted';
      readonly target: CheckTarget;
      readonly attempt: Attempt;
      /** Our own event loop can have caused what it came to. */
      readonly spoilt: boolean;
      readonly now: number;
      /** Wall time minus monotonic time, milliseconds: it changes where the wall clock is set. */
      readonly clockOffset: number;
      readonly loopDelayMs: number;
    }
  /** The attempt that was asked for with this target was broken off; it gives no verdict. */
  | { readonly type: 'aborted'; readonly target: CheckTarget }
  /** Its definition has changed; if that changes the check, one is wanted at `soonAt`. */
  | { readonly type: 'defined'; readonly target: CheckTarget; readonly soonAt: number }
  /** Another check is wanted at this time, if none is under way. */
  | { readonly type: 'recheck'; readonly at: number };

/** What an actor wants done. */
export type ProbeEffect =
  | { readonly type: 'attempt'; readonly target: CheckTarget; readonly number: number }
  /** Be told `due` at this time and at no other. */
  | { readonly type: 'wake'; readonly at: number }
  /** Be told `due` at this time, if not earlier. */
  | { readonly type: 'hasten'; readonly at: number }
  | { readonly type: 'report'; readonly result: CheckResult }
  | { readonly type: 'doubt'; readonly failedAt: number };

/** The rules that an actor follows; durations in milliseconds. */
export interface ProbeRules {
  readonly intervalMs: number;
  readonly confirmAfterMs: readonly number[];
}

type ProbeStep = Step<ProbeState, ProbeEffect>;
type Attempted = Extract<ProbeMessage, { type: 'attempted' }>;

/** A 429 delays the next check by no more than this (decisions, "What a check is"). */
const MAX_WAIT_MS = HOUR_MS;
/** A wall clock that gains or loses this much against the monotonic one was set. */
const CLOCK_SET_MS = 1_000;
/** Spoilt attempts of one check that are repeated; one more ends the check without a verdict. */
const MAX_REPEATS = 3;

/** An actor at rest. */
export function restingProbe(target: CheckTarget, notBefore = 0): ProbeState {
  return { target, notBefore, check: null };
}

/** Makes the pure heart of all actors of a host. */
export function createProbeHandler(
  rules: ProbeRules,
): (state: ProbeState, message: ProbeMessage) => ProbeStep {
  return (state, message) => {
    const { check } = state;
    switch (message.type) {
      case 'due':
        return begin(state);
      case 'attempted':
        // An attempt of an earlier life of this service (removed, and added again) is no news.
        return check?.target === message.target ? conclude(state, check, message, rules) : still(state);
      case 'aborted':
        return check?.target === message.target ? still({ ...state, check: null }) : still(state);
      case 'defined':
        return redefine(state, message.target, message.soonAt);
      case 'recheck':
        return check === null ? hasten(state, message.at) : still(state);
    }
  };
}

function still(state: ProbeState): ProbeStep {
  return { state, effects: [] };
}

function hasten(state: ProbeState, at: number): ProbeStep {
  return { state, effects: [{ type: 'hasten', at: Math.max(at, state.notBefore) }] };
}

function begin(state: ProbeState): ProbeStep {
  const { target } = state;
  if (state.check?.attempting) return still(state);
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

function redefine(state: ProbeState, target: CheckTarget, soonAt: number): ProbeStep {
  const { check, notBefore } = state;
  if (isSameCheck(state.target, target)) {
    return still({ ...state, target: { ...target, memory: state.target.memory } });
  }
  if (check === null) return hasten({ ...state, target }, soonAt);
  // An attempt under way ends first; what waits for another attempt by the old definition is given up.
  if (check.attempting) return still({ ...state, target });
  return {
    state: { target, notBefore, check: null },
    effects: [{ type: 'wake', at: Math.max(soonAt, notBefore) }],
  };
}

function conclude(state: ProbeState, check: OpenCheck, message: Attempted, rules: ProbeRules): ProbeStep {
  // Who asks to be left alone (429), or shows a bot wall, is not asked again at once.
  const repeats = message.spoilt && !message.attempt.blocked && check.repeats < MAX_REPEATS;
  if (repeats) return repeat(state, check, message);
  const { spoilt, now } = message;
  const attempt: Attempt = spoilt ? { ...message.attempt, suspect: 'loop_late' } : message.attempt;
  const { serviceId, revision } = check.target;
  const failed = isFailed(attempt) && !spoilt;
  const isCurrent = isSameCheck(state.target, check.target);
  const target =
    isCurrent && state.target.memory !== attempt.memory
      ? { ...state.target, memory: attempt.memory }
      : state.target;
  const suspect = failed ? (attempt.suspect ?? check.suspect) : attempt.suspect;
  const knownAt = moveWithClock(check.firstFailedAt, message.clockOffset - check.clockOffset);
  // A GET that fails in another way than by silence shows that the silence of the HEAD before was not this failure.
  const isFirst = knownAt === null || (check.headUnproven && !isSilence(attempt));
  const firstFailedAt = failed && isFirst ? attempt.startedAt : knownAt;
  const worstLoopDelayMs = Math.max(check.worstLoopDelayMs, message.loopDelayMs);
  // The control targets are asked while the failure is being confirmed (decisions, offline rule). An own fault, such
  // as a network that cannot be reached, is the clearest sign of all.
  const doubts = failed && attempt.statusCode === 0 && !check.doubted;
  const doubt: ProbeEffect[] = doubts ? [{ type: 'doubt', failedAt: attempt.startedAt }] : [];
  const waitMs = rules.confirmAfterMs[check.attempt];
  if (failed && waitMs !== undefined) {
    // Unconfirmed, and of a definition that is gone: no verdict, but a check by the new one.
    if (!isCurrent) return { state: restingProbe(target), effects: [{ type: 'wake', at: now }, ...doubt] };
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
    revision,
    attempts: check.attempt + 1,
    firstFailedAt,
    endedAt: now,
    loopDelayMs: worstLoopDelayMs,
  };
  const notBefore = attempt.retryAfterMs === null ? 0 : now + Math.min(attempt.retryAfterMs, MAX_WAIT_MS);
  const phase = dueAfterCheck(serviceId, rules.intervalMs, attempt.startedAt, now);
  // The record drops the result of an old revision, so that a new check is wanted at once.
  const wanted = state.target.revision === revision ? phase : now;
  const at = notBefore > wanted ? nextPhase(serviceId, rules.intervalMs, notBefore) : wanted;
  return {
    state: restingProbe(target, notBefore),
    effects: [...doubt, { type: 'report', result }, { type: 'wake', at }],
  };
}

/**
 * A time by the wall clock as it is after it was set by `setByMs`, so that the parts of a check keep their distance.
 * Null stays null; what the clock gains or loses by itself is not counted.
 */
export function moveWithClock<T extends number | null>(at: T, setByMs: number): T | number {
  return at === null || Math.abs(setByMs) < CLOCK_SET_MS ? at : at + Math.round(setByMs);
}

/** Makes the same attempt again at once, as if the spoilt one had not been made. */
function repeat(state: ProbeState, check: OpenCheck, { now, loopDelayMs }: Attempted): ProbeStep {
  const wake: ProbeEffect = { type: 'wake', at: now };
  if (!isSameCheck(state.target, check.target)) return { state: restingProbe(state.target), effects: [wake] };
  const again: OpenCheck = {
    ...check,
    attempting: false,
    repeats: check.repeats + 1,
    worstLoopDelayMs: Math.max(check.worstLoopDelayMs, loopDelayMs),
  };
  return { state: { ...state, check: again }, effects: [wake] };
}

/** Whether an attempt failed because no response came over a good connection. */
function isSilence({ failure, statusCode }: Attempt): boolean {
  return statusCode === 0 && failure?.phase === 'first_byte';
}

/** Whether an attempt counts as failed and is confirmed: a failure, or a body that reports `down`. */
function isFailed(attempt: Attempt): boolean {
  return (attempt.failure !== null || attempt.reported === 'down') && !attempt.blocked;
}
