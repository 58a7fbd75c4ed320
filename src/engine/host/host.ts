/**
 * One probe thread: its schedule wakes the actors, slots bound their attempts in flight, and results are sent in packed
 * batches. It runs until it is stopped; an error in an actor ends it, and the supervisor restarts it. An error in an attempt
 * concerns its service alone.
 */
import { getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';
import { createActorGroup } from '../../actor/actor-group.ts';
import type { Cancel, Clock } from '../../clock.ts';
import { type CheckTarget, type RunAttempt, timingOf } from '../../domain/check-target.ts';
import { problemOf } from '../../error.ts';
import {
  type FromHost,
  type HostTask,
  packResults,
  readStartPermit,
  type ToHost,
  unpackTargets,
} from '../protocol.ts';
import { createCheckSchedule } from './check-schedule.ts';
import { accountKey, type Lane } from './fair-queue.ts';
import { createLoopDelay, isSpoilt } from './loop-delay.ts';
import { createOutgoingResults } from './outgoing-results.ts';
import {
  createStartDelays,
  createStartPacer,
  MAX_EMPTY_TICKS,
  MIN_STARTS,
  startTicker,
  TURN_PAUSE_MS,
} from './pace.ts';
import { firstDue, shiftOf, sweepDelay } from './phase.ts';
import {
  createProbeHandler,
  idleProbe,
  moveWithClock,
  type ProbeEffect,
  type ProbeMessage,
  type ProbeState,
} from './probe-actor.ts';
import { ProbeStates } from './probe-states.ts';
import { createSlots, DELAY_AFTER_MS, LONG_ATTEMPT_MS, OVERDUE_MS } from './slots.ts';

const TICK_MS = 10;
/** Ticks of the schedule in one of the host. Due times are rounded up to them, 2.5 ms. */
const SCHEDULE_TICKS = 4;
const REPORT_MS = 1_000;
/** Minimum time between two messages of the same kind about doubts or delays, milliseconds. */
const DOUBT_PAUSE_MS = 100;
/** An actor gets few messages at a time; more than this number shows a bug. */
const MAILBOX_LIMIT = 16;

class ProbeHost {
  readonly #runAttempt: RunAttempt;
  readonly #clock: Clock;
  readonly #epoch: number;
  readonly #port: HostTask['port'];
  readonly #settings: HostTask['settings'];
  readonly #loopTicks: Int32Array;
  readonly #slots: ReturnType<typeof createSlots>;
  readonly #schedule: ReturnType<typeof createCheckSchedule>;
  readonly #loopDelay: ReturnType<typeof createLoopDelay>;
  readonly #startDelays = createStartDelays();
  readonly #pacer = createStartPacer(TICK_MS);
  readonly #mayStart: () => boolean;
  readonly #aborting = new AbortController();
  /** Resolves when the host has stopped; rejects with the first own fault. */
  readonly finished: Promise<void>;
  readonly #end = Promise.withResolvers<void>();
  readonly #outgoing: ReturnType<typeof createOutgoingResults>;
  #checksDone = 0;
  #postponed = 0;
  /** No attempt is started any more. */
  #stopping = false;
  #pumping = false;
  #beginning: Lane | null = null;
  #phaseShiftMs = 0;
  #lastDoubtAt = Number.NEGATIVE_INFINITY;
  #lastDelayAt = Number.NEGATIVE_INFINITY;
  readonly #actors: ReturnType<typeof createActorGroup<ProbeState, ProbeMessage, ProbeEffect>>;
  /** Checks that became due between two ticks. */
  #cameBetween = 0;
  #cancelBetween: (() => void) | null = null;
  readonly #ticker: ReturnType<typeof startTicker>;
  readonly #cancelReports: Cancel;

  constructor(task: HostTask, runAttempt: RunAttempt, clock: Clock) {
    this.finished = this.#end.promise;
    this.#runAttempt = runAttempt;
    this.#clock = clock;
    const { epoch, port, settings } = task;
    this.#epoch = epoch;
    this.#port = port;
    this.#settings = settings;
    this.#loopTicks = new Int32Array(task.loopTicks);
    this.#outgoing = createOutgoingResults(clock, (results) => {
      const packed = packResults(results);
      this.#post({ type: 'results', epoch, packed }, [packed.numbers.buffer]);
    });
    this.#slots = createSlots(settings.concurrency, task.inFlight);
    this.#schedule = createCheckSchedule(clock, TICK_MS / SCHEDULE_TICKS, settings.concurrency);
    this.#loopDelay = createLoopDelay(TICK_MS, clock.monotonic());
    this.#mayStart = readStartPermit(task.startPermit);
    this.#actors = createActorGroup<ProbeState, ProbeMessage, ProbeEffect>({
      handle: createProbeHandler({ ...settings, phaseShiftMs: () => this.#phaseShiftMs }),
      perform: (serviceId, effect) => this.#perform(serviceId, effect),
      mailboxLimit: MAILBOX_LIMIT,
      overflow: 'reject',
      states: new ProbeStates(),
    });
    port.on('message', (message: ToHost) => this.#receive(message));
    this.#ticker = startTicker({
      clock,
      tickMs: TICK_MS,
      onTick: (leftOut) => this.#tick(leftOut),
      // The lateness of ticks is measured while attempts are in flight.
      emptyAhead: () => (this.#slots.busy > 0 || this.#schedule.waiting > 0 ? 0 : this.#emptyTicksAhead()),
      onPlan: this.#loopDelay.expect,
    });
    this.#cancelReports = clock.every(REPORT_MS, () => this.#report());
    this.#post({ type: 'ready', epoch, threadId });
  }

  readonly #lateness = () => this.#loopDelay.present(this.#clock.monotonic());

  readonly #totalDelay = () => this.#loopDelay.total(this.#clock.monotonic());

  readonly #reportDelay = () => {
    const now = this.#clock.monotonic();
    if (now - this.#lastDelayAt < DOUBT_PAUSE_MS) return;
    this.#lastDelayAt = now;
    this.#post({ type: 'delay', epoch: this.#epoch });
  };

  readonly #begin = (serviceId: number, lateMs: number | null, lane: Lane) => {
    if (lateMs !== null) this.#startDelays.note(lateMs);
    this.#beginning = lane;
    this.#send(serviceId, { type: 'due' });
    this.#beginning = null;
  };

  readonly #pumpAgain = () => {
    this.#pumping = false;
    this.#pump();
  };

  readonly #turnBetween = () => {
    this.#cameBetween += this.#schedule.turn();
    this.#pump();
  };

  #receive(message: ToHost) {
    this.#ticker.wake();
    switch (message.type) {
      case 'assign':
        this.#assign(message);
        return this.#post({ type: 'assigned', epoch: this.#epoch });
      case 'remove':
        for (const serviceId of message.serviceIds) this.#remove(serviceId);
        return;
      case 'recheck':
        return this.#recheck(message.serviceIds, message.spreadMs);
      case 'shift':
        this.#phaseShiftMs = message.phaseShiftMs;
        return;
      case 'stop':
        this.#stopping = true;
        return this.#finishIfIdle();
    }
  }

  #tick(leftOut: number): void {
    this.#loopDelay.note(this.#clock.monotonic());
    Atomics.add(this.#loopTicks, 0, 1);
    for (let empty = 0; empty < leftOut; empty++) this.#pacer.note(0);
    this.#pacer.note(this.#schedule.turn() + this.#cameBetween);
    this.#cameBetween = 0;
    this.#pump();
    // With few checks, it is worth more that the thread sleeps than that a check starts some milliseconds earlier.
    if (this.#pacer.isBusy()) this.#cancelBetween = this.#clock.after(TICK_MS / 2, this.#turnBetween);
  }

  #clockOffset() {
    return this.#clock.now() - this.#clock.monotonic();
  }

  #post(message: FromHost, transfer: ArrayBuffer[] = []) {
    return this.#port.postMessage(message, transfer);
  }

  #perform(serviceId: number, effect: ProbeEffect) {
    switch (effect.type) {
      case 'attempt':
        return this.#attempt(serviceId, effect.target, effect.number);
      case 'wake':
        return this.#schedule.wake(serviceId, effect.at);
      case 'hasten':
        return this.#schedule.hasten(serviceId, effect.at);
      case 'report':
        this.#checksDone++;
        return this.#outgoing.add(effect.result);
      case 'doubt': {
        const now = this.#clock.monotonic();
        if (now - this.#lastDoubtAt < DOUBT_PAUSE_MS) return;
        this.#lastDoubtAt = now;
        return this.#post({ type: 'doubt', epoch: this.#epoch, failedAt: effect.failedAt });
      }
    }
  }

  #send(serviceId: number, message: ProbeMessage) {
    if (this.#actors.send(serviceId, message) || this.#actors.state(serviceId) === undefined) return;
    this.#finish(new Error(`the mailbox of service ${serviceId} is full`));
  }

  #attempt(serviceId: number, target: CheckTarget, number: number) {
    const { timeoutMs, slowOverMs } = timingOf(target.check, this.#settings);
    const slot = this.#slots.take(serviceId, Math.ceil((timeoutMs + OVERDUE_MS) / REPORT_MS));
    const startedMs = this.#clock.monotonic();
    const lane = this.#beginning;
    if (lane !== null) this.#schedule.hold(lane);
    const startedOffset = this.#clockOffset();
    const startedAt = this.#clock.now();
    const { signal } = this.#aborting;
    const measured = { lateness: this.#lateness, totalDelay: this.#totalDelay };
    const options = { timeoutMs, number, slot, ...measured, signal };
    const cancelDelay = this.#clock.after(Math.min(DELAY_AFTER_MS, slowOverMs / 3), this.#reportDelay);
    const settle = (message: ProbeMessage) => {
      cancelDelay();
      this.#slots.free(slot);
      if (lane !== null) this.#schedule.release(lane);
      this.#send(serviceId, message);
      if (!this.#stopping) {
        this.#pump();
        this.#ticker.rest();
      } else if (!this.#aborting.signal.aborted) this.#finishIfIdle();
    };
    this.#runAttempt(target, options).then(
      (made) => {
        const cause = made.failure?.cause;
        if (cause?.code === 'address_busy') {
          this.#postponed++;
          return settle({ type: 'postponed', target, at: this.#clock.now() + cause.waitMs });
        }
        const endedMs = this.#clock.monotonic();
        const loopDelayMs = this.#loopDelay.worst(startedMs, endedMs);
        this.#schedule.noteLength(serviceId, endedMs - startedMs - loopDelayMs >= LONG_ATTEMPT_MS);
        const spoilt = isSpoilt(made, loopDelayMs, slowOverMs);
        const offset = this.#clockOffset();
        const madeAt = moveWithClock(made.startedAt, offset - startedOffset);
        const moved = madeAt === made.startedAt ? made : { ...made, startedAt: madeAt };
        settle({
          type: 'attempted',
          target,
          attempt: moved,
          spoilt,
          now: this.#clock.now(),
          clockOffset: offset,
          loopDelayMs,
        });
      },
      (error: unknown) => {
        if (this.#aborting.signal.aborted) return settle({ type: 'aborted', target });
        const { domain } = target;
        this.#post({
          type: 'broken',
          epoch: this.#epoch,
          found: { serviceId, domain, problem: problemOf(error) },
        });
        settle({ type: 'broken', target, startedAt, now: this.#clock.now() });
      },
    );
  }

  /** Starts due checks, a few in each iteration of the event loop, while slots are free. */
  #pump() {
    if (this.#pumping) return;
    const starts = this.#pacer.starts(this.#schedule.waiting);
    for (let started = 0; started < starts; started++) {
      if (this.#stopping || !this.#mayStart() || !this.#schedule.take(this.#slots.available, this.#begin))
        return;
    }
    this.#pumping = true;
    if (this.#schedule.waiting > MIN_STARTS) this.#clock.after(TURN_PAUSE_MS, this.#pumpAgain);
    else setImmediate(this.#pumpAgain);
  }

  #assign({ services, spreadMs, aheadMs, notBefore }: Extract<ToHost, { type: 'assign' }>) {
    const now = this.#clock.now();
    const waits = new Map(notBefore);
    for (const target of unpackTargets(services)) {
      const { serviceId } = target;
      const known = this.#actors.state(serviceId);
      if (known === undefined) {
        const earliest = waits.get(serviceId) ?? 0;
        const { intervalMs } = timingOf(target.check, this.#settings);
        const due = firstDue(serviceId, target.lastCheckedAt, now, {
          intervalMs,
          // A service that has a shorter interval of its own is first checked within it.
          spreadMs: intervalMs === this.#settings.intervalMs ? spreadMs : Math.min(spreadMs, intervalMs),
          aheadMs,
          shiftMs: shiftOf(this.#phaseShiftMs, this.#settings.intervalMs, intervalMs),
        });
        this.#actors.add(serviceId, idleProbe(target, earliest));
        this.#schedule.add(serviceId, accountKey(target));
        this.#schedule.wake(serviceId, Math.max(due, earliest));
      } else if (target.revision > known.target.revision) {
        this.#schedule.move(serviceId, accountKey(target));
        this.#send(serviceId, {
          type: 'defined',
          target,
          soonAt: now + sweepDelay(serviceId, spreadMs),
          now,
        });
      }
    }
  }

  #remove(serviceId: number) {
    this.#schedule.remove(serviceId);
    this.#actors.remove(serviceId);
  }

  #recheck(serviceIds: readonly number[], spreadMs: number) {
    const now = this.#clock.now();
    for (const serviceId of serviceIds) {
      // After the prober was offline, when all attempts took long.
      if (spreadMs > 0) this.#schedule.noteLength(serviceId, false);
      this.#send(serviceId, { type: 'recheck', at: now + sweepDelay(serviceId, spreadMs) });
    }
  }

  #finishIfIdle() {
    // Attempts in flight end first; a check between two attempts gives no verdict.
    if (this.#slots.busy === 0) this.#finish(null);
  }

  #finish(error: Error | null) {
    this.#stopping = true;
    this.#ticker.stop();
    this.#cancelBetween?.();
    this.#cancelReports();
    this.#outgoing.flush();
    if (error === null) this.#post({ type: 'stopped', epoch: this.#epoch });
    else this.#aborting.abort(error);
    this.#port.close();
    if (error === null) this.#end.resolve();
    else this.#end.reject(error);
  }

  #emptyTicksAhead() {
    return Math.floor(this.#schedule.emptyAhead(MAX_EMPTY_TICKS * SCHEDULE_TICKS) / SCHEDULE_TICKS);
  }

  #report() {
    this.#outgoing.flush();
    // Not process.memoryUsage(), which opens a file and throws while there are too many.
    const { used_heap_size: heapUsed, external_memory: external } = getHeapStatistics();
    const now = this.#clock.monotonic();
    this.#post({
      type: 'report',
      epoch: this.#epoch,
      report: {
        services: this.#actors.size,
        openChecks: this.#slots.busy,
        waiting: this.#schedule.waiting,
        shares: this.#schedule.shares(),
        postponed: this.#postponed,
        checksDone: this.#checksDone,
        startDelayMs: this.#startDelays.take(),
        loopDelayMs: this.#loopDelay.worst(now - REPORT_MS, now),
        heapBytes: heapUsed,
        externalBytes: external,
      },
    });
    const lost = this.#slots.findOverdue();
    if (lost !== null)
      this.#finish(new Error(`an attempt of service ${lost} did not end within its time-out`));
  }
}

/** Runs a host until it is stopped. Rejects with the first own fault. */
export function runHost(task: HostTask, runAttempt: RunAttempt, clock: Clock): Promise<void> {
  return new ProbeHost(task, runAttempt, clock).finished;
}
