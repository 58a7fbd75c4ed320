/**
 * The actor of one service: plain scheduling memory, and a pure function from a message to the next state.
 * It never holds the service's status; that is the record's.
 */
import type { Step } from '../../actor/actor-group.ts';
import type { CheckTarget } from '../../domain/check-target.ts';
import type { Attempt, CheckResult, SuspectReason } from '../../domain/result.ts';
import { dueAfterCheck } from './phase.ts';

/** What an actor remembers. */
export interface ProbeState {
  readonly target: CheckTarget;
  /** The definition that the check under way was begun with; null: at rest. */
  readonly checking: CheckTarget | null;
  /** Number of the attempt that is under way or comes next, from 0. */
  readonly attempt: number;
  /** When the check under way was due, epoch milliseconds. */
  readonly begunAt: number;
  /** Start of the first failed attempt of the check under way; null: none has failed. */
  readonly firstFailedAt: number | null;
  /** Our own fault in an attempt of the check under way; null: none. */
  readonly suspect: SuspectReason | null;
  readonly worstLoopDelayMs: number;
}

/** What an actor can be told. Times are epoch milliseconds. */
export type ProbeMessage =
  /** Its time has come: for a check, or for the next attempt of one. */
  | { readonly type: 'due'; readonly now: number }
  | {
      readonly type: 'attempted';
      readonly attempt: Attempt;
      readonly now: number;
      readonly loopDelayMs: number;
    }
  /** The attempt under way was broken off; it gives no verdict. */
  | { readonly type: 'aborted' }
  | { readonly type: 'defined'; readonly target: CheckTarget };

/** What an actor wants done. */
export type ProbeEffect =
  | { readonly type: 'attempt'; readonly target: CheckTarget; readonly number: number }
  | { readonly type: 'wake'; readonly at: number }
  | { readonly type: 'report'; readonly result: CheckResult }
  | { readonly type: 'doubt'; readonly failedAt: number };

/** The rules that an actor follows; durations in milliseconds. */
export interface ProbeRules {
  readonly intervalMs: number;
  readonly confirmAfterMs: readonly number[];
}

/** An actor at rest. */
export function restingProbe(target: CheckTarget): ProbeState {
  return {
    target,
    checking: null,
    attempt: 0,
    begunAt: 0,
    firstFailedAt: null,
    suspect: null,
    worstLoopDelayMs: 0,
  };
}

/** Makes the pure heart of all actors of a host. */
export function createProbeHandler(
  rules: ProbeRules,
): (state: ProbeState, message: ProbeMessage) => Step<ProbeState, ProbeEffect> {
  return (state, message) => {
    switch (message.type) {
      case 'due':
        return begin(state, message.now);
      case 'attempted':
        return state.checking === null
          ? { state, effects: [] }
          : judgeAttempt(state, state.checking, message, rules);
      case 'aborted':
        return { state: restingProbe(state.target), effects: [] };
      case 'defined':
        // The check under way ends with the definition that it began with; the record drops its old revision.
        return { state: { ...state, target: message.target }, effects: [] };
    }
  };
}

function begin(state: ProbeState, now: number): Step<ProbeState, ProbeEffect> {
  const checking = state.checking ?? state.target;
  return {
    state: state.checking === null ? { ...state, checking, begunAt: now } : state,
    effects: [{ type: 'attempt', target: checking, number: state.attempt }],
  };
}

function judgeAttempt(
  state: ProbeState,
  checking: CheckTarget,
  { attempt, now, loopDelayMs }: Extract<ProbeMessage, { type: 'attempted' }>,
  rules: ProbeRules,
): Step<ProbeState, ProbeEffect> {
  const worstLoopDelayMs = Math.max(state.worstLoopDelayMs, loopDelayMs);
  const learnt =
    state.target.revision === checking.revision ? { ...state.target, memory: attempt.memory } : state.target;
  const isBad = isFailed(attempt);
  const suspect = isBad ? (attempt.suspect ?? state.suspect) : attempt.suspect;
  const firstFailedAt = isBad ? (state.firstFailedAt ?? attempt.startedAt) : state.firstFailedAt;
  const wait = rules.confirmAfterMs[state.attempt];
  if (isBad && wait !== undefined) {
    const effects: ProbeEffect[] = [{ type: 'wake', at: now + wait }];
    // The control targets are asked while the failure is being confirmed (decisions, offline rule).
    if (attempt.statusCode === 0 && attempt.suspect === null)
      effects.push({ type: 'doubt', failedAt: attempt.startedAt });
    return {
      state: {
        ...state,
        target: learnt,
        checking: { ...checking, memory: attempt.memory },
        attempt: state.attempt + 1,
        firstFailedAt,
        suspect,
        worstLoopDelayMs,
      },
      effects,
    };
  }
  const result: CheckResult = {
    ...attempt,
    suspect,
    serviceId: checking.serviceId,
    revision: checking.revision,
    attempts: state.attempt + 1,
    firstFailedAt,
    endedAt: now,
    loopDelayMs: worstLoopDelayMs,
  };
  const phase = dueAfterCheck(checking.serviceId, rules.intervalMs, state.begunAt, now);
  const asked = attempt.retryAfterMs === null ? phase : now + attempt.retryAfterMs;
  // A 429 asks us to wait: the first phase after that time.
  const at = asked > phase ? dueAfterCheck(checking.serviceId, rules.intervalMs, 0, asked) : phase;
  return {
    state: restingProbe({ ...learnt, lastCheckedAt: attempt.startedAt }),
    effects: [
      ...(isBad && attempt.statusCode === 0 && attempt.suspect === null && state.attempt === 0
        ? [{ type: 'doubt', failedAt: attempt.startedAt } as const]
        : []),
      { type: 'report', result },
      { type: 'wake', at },
    ],
  };
}

/** Whether an attempt counts as failed and is confirmed: a failure, or a body that reports `down`. */
function isFailed(attempt: Attempt): boolean {
  return (attempt.failure !== null || attempt.reported === 'down') && !attempt.blocked;
}
