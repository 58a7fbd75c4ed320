/**
 * The prober of one place: the real actors of its services on the clock of the world, whose attempts are answered by the script of
 * the world. Writes into the diary what each attempt met.
 */
import { type CheckTarget, timingOf } from '../../src/domain/check-target.ts';
import type { Failure } from '../../src/domain/failure.ts';
import type { Attempt, CheckResult, ProbeMemory } from '../../src/domain/result.ts';
import type { Service } from '../../src/domain/service.ts';
import { isSpoilt } from '../../src/engine/host/loop-delay.ts';
import { firstDue, shiftOf } from '../../src/engine/host/phase.ts';
import {
  createProbeHandler,
  idleProbe,
  moveWithClock,
  type ProbeEffect,
  type ProbeMessage,
  type ProbeState,
} from '../../src/engine/host/probe-actor.ts';
import { goodAttempt, USUAL } from '../support/attempts.ts';
import type { AttemptMade } from './diary.ts';
import type { Mood } from './world.ts';
import type { WorldClock } from './world-clock.ts';

/** Services affected by an outage, and those of a first sweep, are checked within this time. */
export const SPREAD_MS = 60_000;

/** What an attempt meets, and how long it takes if the process does not stand still. */
interface Answer {
  readonly durationMs: number;
  readonly changes: Partial<Attempt>;
}

const failure = (kind: Failure['class'], text: string): Failure => {
  return { class: kind, phase: kind === 'refused' ? 'connect' : 'first_byte', cause: { code: 'text', text } };
};
const UNANSWERED = { statusCode: 0, answered: false } as const;
const REFUSED: Answer = {
  durationMs: 20,
  changes: { ...UNANSWERED, failure: failure('refused', 'refused') },
};
const HANGS: Answer = {
  durationMs: USUAL.timeoutMs,
  changes: { ...UNANSWERED, failure: failure('timeout', 'no answer') },
};
const ANSWERS: Readonly<Record<Mood | 'fine', Answer>> = {
  fine: { durationMs: 80, changes: {} },
  refuses: REFUSED,
  hangs: HANGS,
  error: { durationMs: 60, changes: { statusCode: 503, failure: failure('status', 'HTTP 503') } },
  slow: { durationMs: 3_400, changes: {} },
  edge: { durationMs: 3_000, changes: {} },
  'tells-slow': { durationMs: 70, changes: { reported: 'slow', reportedWord: 'degraded' } },
  'tells-down': { durationMs: 70, changes: { reported: 'down', reportedWord: 'down' } },
  wall: {
    durationMs: 90,
    changes: { statusCode: 503, blocked: true, failure: failure('status', 'HTTP 503') },
  },
  busy: { durationMs: 50, changes: { statusCode: 429, blocked: true, retryAfterMs: 90_000 } },
  'no-socket': { durationMs: 5, changes: { ...REFUSED.changes, suspect: 'own_fault' } },
};

/** What a place needs. */
export interface PlaceOptions {
  readonly clock: WorldClock;
  readonly services: readonly Service[];
  readonly intervalMs: number;
  readonly shiftMs: number;
  /** What a service does now; null: this place has no network. */
  readonly moodOf: (serviceId: number) => Mood | 'fine' | null;
  readonly stateOf: (serviceId: number) => {
    readonly memory: ProbeMemory;
    readonly lastCheckedAt: number | null;
  };
  /** An attempt has begun. */
  readonly onBegin: (serviceId: number) => void;
  readonly onAttempt: (made: Omit<AttemptMade, 'what' | 'place'>) => void;
  readonly onResult: (result: CheckResult) => void;
  readonly onDoubt: (failedAt: number) => void;
  readonly onDelay: () => void;
}

/** Starts the checks of a place. */
export function startPlace(options: PlaceOptions) {
  const { clock, services, intervalMs, shiftMs, moodOf, stateOf } = options;
  const handle = createProbeHandler({ ...USUAL, intervalMs, phaseShiftMs: () => shiftMs });
  const states = new Map<number, ProbeState>();
  const due = new Map<number, { readonly ms: number; readonly cancel: () => void }>();
  let isGone = false;

  function send(id: number, message: ProbeMessage): void {
    const state = states.get(id);
    if (isGone || state === undefined) return;
    const step = handle(state, message);
    states.set(id, step.state);
    for (const effect of step.effects) if (effect.type !== 'report') perform(id, effect);
    // As in the program, a result leaves the thread of its actor when the step is done, so that what it causes comes later.
    for (const effect of step.effects) if (effect.type === 'report') perform(id, effect);
  }

  function wake(id: number, at: number): void {
    due.get(id)?.cancel();
    const ms = Math.max(clock.monotonic(), clock.monotonic() + at - clock.now());
    const cancel = clock.after(ms - clock.monotonic(), () => {
      due.delete(id);
      send(id, { type: 'due' });
    });
    due.set(id, { ms, cancel });
  }

  function perform(id: number, effect: ProbeEffect): void {
    switch (effect.type) {
      case 'attempt':
        attempt(id, effect.target);
        return;
      case 'wake':
        wake(id, effect.at);
        return;
      case 'hasten':
        if ((due.get(id)?.ms ?? Number.POSITIVE_INFINITY) > clock.monotonic() + effect.at - clock.now())
          wake(id, effect.at);
        return;
      case 'report':
        options.onResult(effect.result);
        return;
      case 'doubt':
        options.onDoubt(effect.failedAt);
    }
  }

  function attempt(id: number, target: CheckTarget): void {
    const beganMs = clock.monotonic();
    const [beganAt, offset] = [clock.now(), clock.now() - beganMs];
    const mood = moodOf(id);
    // Without a network some connections are refused at once, others hang.
    const { durationMs, changes } = mood === null ? (id % 2 === 0 ? REFUSED : HANGS) : ANSWERS[mood];
    const { slowOverMs } = timingOf(target.check, USUAL);
    const cancelDelay = clock.after(Math.min(1_000, slowOverMs / 3), () => !isGone && options.onDelay());
    options.onBegin(id);
    clock.after(durationMs, () => {
      cancelDelay();
      if (isGone) return;
      const tookMs = clock.monotonic() - beganMs;
      const lostMs = tookMs - durationMs;
      const answered = changes.answered ?? true;
      const now = clock.now();
      const clockOffset = now - clock.monotonic();
      const made = goodAttempt({
        responseTimeMs: answered ? tookMs : null,
        ...changes,
        answered,
        startedAt: moveWithClock(beganAt, clockOffset - offset),
        lostMs,
      });
      options.onAttempt({
        service: id,
        revision: target.revision,
        beganMs,
        responded: answered,
        failed: made.failure !== null,
        timedOut: made.failure?.class === 'timeout',
        tookMs,
        lostMs,
        word: made.reported === 'up' ? null : made.reported,
        blocked: made.blocked,
        retryAfterMs: made.retryAfterMs,
        ownFault: made.suspect === 'own_fault',
      });
      const spoilt = isSpoilt(made, lostMs, slowOverMs);
      send(id, { type: 'attempted', target, attempt: made, spoilt, now, clockOffset, loopDelayMs: lostMs });
    });
  }

  /** Checks a service from now on; `spreadMs`: one that was not checked lately is due within it. */
  function add(service: Service, spreadMs: number): void {
    const target = targetOf(service);
    const { serviceId, check, lastCheckedAt } = target;
    const { intervalMs: ownMs } = timingOf(check, { ...USUAL, intervalMs });
    const ownShiftMs = shiftOf(shiftMs, intervalMs, ownMs);
    states.set(serviceId, idleProbe(target));
    const times = { intervalMs: ownMs, spreadMs: Math.min(spreadMs, ownMs), shiftMs: ownShiftMs };
    wake(serviceId, firstDue(serviceId, lastCheckedAt, clock.now(), times));
  }

  function targetOf({ id, domain, origin, accountId, check, revision }: Service): CheckTarget {
    return { serviceId: id, revision, domain, origin, accountId, check, ...stateOf(id) };
  }

  function forget(id: number): void {
    due.get(id)?.cancel();
    due.delete(id);
    states.delete(id);
  }

  for (const service of services) if (!service.paused) add(service, SPREAD_MS);

  return {
    /** The definition of a service has changed; null: it was removed. */
    define(id: number, service: Service | null): void {
      const now = clock.now();
      if (service === null || service.paused) forget(id);
      else if (states.has(id)) send(id, { type: 'defined', target: targetOf(service), soonAt: now, now });
      else add(service, 0);
    },
    /** Checks services soon, spread over `spreadMs`. */
    recheck(ids: readonly number[], spreadMs: number): void {
      for (const [index, id] of ids.entries()) {
        send(id, { type: 'recheck', at: clock.now() + Math.floor((index * spreadMs) / ids.length) });
      }
    },
    /** The place is gone; what was in flight ends without a result. */
    end(): void {
      isGone = true;
      for (const { cancel } of due.values()) cancel();
    },
  };
}
