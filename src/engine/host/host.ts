/**
 * One probe thread: its schedule wakes the actors, slots bound their attempts in flight, and results are sent in packed
 * batches. It runs until it is stopped; an error in an actor ends it, and the supervisor restarts it. An error in an attempt
 * concerns its service alone.
 */
import { getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';
import { createActorGroup } from '../../actor/actor-group.ts';
import type { Clock } from '../../clock.ts';
import type { CheckTarget, RunAttempt } from '../../domain/check-target.ts';
import { timingOf } from '../../domain/check-timing.ts';
import { type CheckResult, MAX_RETURNED_MS } from '../../domain/result.ts';
import { toError } from '../../error.ts';
import { type FromHost, type HostTask, packResults, type ToHost } from '../protocol.ts';
import { readStartPermit } from '../start-permit.ts';
import { unpackTargets } from '../target-packing.ts';
import { createCheckSchedule } from './check-schedule.ts';
import { CATALOGUE, type Lane, UNKNOWN_ACCOUNT } from './fair-queue.ts';
import { createLoopDelay, isSpoilt } from './loop-delay.ts';
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
import { createSlots } from './slots.ts';
import { createStartDelays, createStartPacer, MIN_STARTS, TURN_PAUSE_MS } from './start-pacer.ts';
import { MAX_EMPTY_TICKS, startTicker } from './ticker.ts';

const TICK_MS = 10;
/** Ticks of the schedule in one of the host. Due times are rounded up to them, 2.5 ms. */
const SCHEDULE_TICKS = 4;
const BATCH_MS = 100;
const BATCH_RESULTS = 256;
const REPORT_MS = 1_000;
/** Minimum time between two messages of the same kind about doubts or delays, milliseconds. */
const DOUBT_PAUSE_MS = 100;
/**
 * An attempt without a response after this time, or a third of `slowOverMs` if that is less, is reported as delayed, so that
 * the control targets are requested while our connection is still delayed.
 */
const DELAY_AFTER_MS = 1_000;
/** An attempt that exceeds its timeout by this time, milliseconds, shows a bug of the prober. */
const OVERDUE_MS = MAX_RETURNED_MS + 5_000;
/** An attempt that holds its slot for this time is long, milliseconds; a few of them in a row lead to the lane of long checks. */
const LONG_ATTEMPT_MS = 5_000;
/** An actor gets few messages at a time; more than this number shows a bug. */
const MAILBOX_LIMIT = 16;

/** Runs a host until it is stopped. Rejects with the first own fault. */
export function runHost(task: HostTask, runAttempt: RunAttempt, clock: Clock): Promise<void> {
  const { epoch, port, settings } = task;
  const loopTicks = new Int32Array(task.loopTicks);
  const slots = createSlots(settings.concurrency, task.inFlight);
  const schedule = createCheckSchedule(clock, TICK_MS / SCHEDULE_TICKS, settings.concurrency);
  const loopDelay = createLoopDelay(TICK_MS, clock.monotonic());
  const startDelays = createStartDelays();
  const pacer = createStartPacer(TICK_MS);
  const mayStart = readStartPermit(task.startPermit);
  const aborting = new AbortController();
  const finished = Promise.withResolvers<void>();
  let outgoing: CheckResult[] = [];
  let checksDone = 0;
  let postponed = 0;
  /** No attempt is started any more. */
  let stopping = false;
  let pumping = false;
  /** The lane of the check that begins. */
  let beginning: Lane | null = null;
  let phaseShiftMs = 0;
  let lastDoubtAt = Number.NEGATIVE_INFINITY;
  let lastDelayAt = Number.NEGATIVE_INFINITY;

  const clockOffset = () => clock.now() - clock.monotonic();
  const lateness = () => loopDelay.present(clock.monotonic());
  const totalDelay = () => loopDelay.total(clock.monotonic());

  const post = (message: FromHost, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

  /** Sends the results of the last moment; null: there are none. */
  let cancelFlush: (() => void) | null = null;
  const flush = () => {
    cancelFlush?.();
    cancelFlush = null;
    if (outgoing.length === 0) return;
    const packed = packResults(outgoing);
    outgoing = [];
    post({ type: 'results', epoch, packed }, [packed.numbers.buffer]);
  };

  const perform = (serviceId: number, effect: ProbeEffect) => {
    switch (effect.type) {
      case 'attempt':
        return attempt(serviceId, effect.target, effect.number);
      case 'wake':
        return schedule.wake(serviceId, effect.at);
      case 'hasten':
        return schedule.hasten(serviceId, effect.at);
      case 'report':
        checksDone++;
        if (outgoing.push(effect.result) >= BATCH_RESULTS) flush();
        else cancelFlush ??= clock.after(BATCH_MS, flush);
        return;
      case 'doubt': {
        const now = clock.monotonic();
        if (now - lastDoubtAt < DOUBT_PAUSE_MS) return;
        lastDoubtAt = now;
        return post({ type: 'doubt', epoch, failedAt: effect.failedAt });
      }
    }
  };
  const actors = createActorGroup<ProbeState, ProbeMessage, ProbeEffect>({
    handle: createProbeHandler({ ...settings, phaseShiftMs: () => phaseShiftMs }),
    perform,
    mailboxLimit: MAILBOX_LIMIT,
    overflow: 'reject',
    states: new ProbeStates(),
  });
  const send = (serviceId: number, message: ProbeMessage) => {
    if (actors.send(serviceId, message) || actors.state(serviceId) === undefined) return;
    finish(new Error(`the mailbox of service ${serviceId} is full`));
  };

  const reportDelay = () => {
    const now = clock.monotonic();
    if (now - lastDelayAt < DOUBT_PAUSE_MS) return;
    lastDelayAt = now;
    post({ type: 'delay', epoch });
  };

  const attempt = (serviceId: number, target: CheckTarget, number: number) => {
    const { timeoutMs, slowOverMs } = timingOf(target.check, settings);
    const slot = slots.take(serviceId, Math.ceil((timeoutMs + OVERDUE_MS) / REPORT_MS));
    const startedMs = clock.monotonic();
    const lane = beginning;
    if (lane !== null) schedule.hold(lane);
    const startedOffset = clockOffset();
    const startedAt = clock.now();
    const options = { timeoutMs, number, slot, lateness, totalDelay, signal: aborting.signal };
    const cancelDelay = clock.after(Math.min(DELAY_AFTER_MS, slowOverMs / 3), reportDelay);
    const settle = (message: ProbeMessage) => {
      cancelDelay();
      slots.free(slot);
      if (lane !== null) schedule.release(lane);
      send(serviceId, message);
      if (!stopping) pump();
      else if (!aborting.signal.aborted) finishIfIdle();
    };
    runAttempt(target, options).then(
      (made) => {
        const cause = made.failure?.cause;
        if (cause?.code === 'address_busy') {
          postponed++;
          return settle({ type: 'postponed', target, at: clock.now() + cause.waitMs });
        }
        const endedMs = clock.monotonic();
        const loopDelayMs = loopDelay.worst(startedMs, endedMs);
        schedule.noteLength(serviceId, endedMs - startedMs - loopDelayMs >= LONG_ATTEMPT_MS);
        const spoilt = isSpoilt(made, loopDelayMs, slowOverMs);
        const offset = clockOffset();
        const madeAt = moveWithClock(made.startedAt, offset - startedOffset);
        const moved = madeAt === made.startedAt ? made : { ...made, startedAt: madeAt };
        settle({
          type: 'attempted',
          target,
          attempt: moved,
          spoilt,
          now: clock.now(),
          clockOffset: offset,
          loopDelayMs,
        });
      },
      (error: unknown) => {
        if (aborting.signal.aborted) return settle({ type: 'aborted', target });
        const { domain } = target;
        post({ type: 'broken', epoch, found: { serviceId, domain, problem: problemOf(error) } });
        settle({ type: 'broken', target, startedAt, now: clock.now() });
      },
    );
  };

  const begin = (serviceId: number, lateMs: number | null, lane: Lane) => {
    if (lateMs !== null) startDelays.note(lateMs);
    beginning = lane;
    send(serviceId, { type: 'due' });
    beginning = null;
  };

  /** Starts due checks, a few in each iteration of the event loop, while slots are free. */
  const pump = () => {
    if (pumping) return;
    const starts = pacer.starts(schedule.waiting);
    for (let started = 0; started < starts; started++) {
      if (stopping || !mayStart() || !schedule.take(slots.available, begin)) return;
    }
    pumping = true;
    if (schedule.waiting > MIN_STARTS) clock.after(TURN_PAUSE_MS, pumpAgain);
    else setImmediate(pumpAgain);
  };
  const pumpAgain = () => {
    pumping = false;
    pump();
  };

  const assign = ({ services, spreadMs, notBefore }: Extract<ToHost, { type: 'assign' }>) => {
    const now = clock.now();
    const waits = new Map(notBefore);
    for (const target of unpackTargets(services)) {
      const { serviceId } = target;
      const known = actors.state(serviceId);
      if (known === undefined) {
        const earliest = waits.get(serviceId) ?? 0;
        const { intervalMs } = timingOf(target.check, settings);
        const due = firstDue(
          serviceId,
          target.lastCheckedAt,
          now,
          intervalMs,
          // A service that has a shorter interval of its own is first checked within it.
          intervalMs === settings.intervalMs ? spreadMs : Math.min(spreadMs, intervalMs),
          shiftOf(phaseShiftMs, settings.intervalMs, intervalMs),
        );
        actors.add(serviceId, idleProbe(target, earliest));
        schedule.add(serviceId, accountKey(target));
        schedule.wake(serviceId, Math.max(due, earliest));
      } else if (target.revision > known.target.revision) {
        schedule.move(serviceId, accountKey(target));
        send(serviceId, { type: 'defined', target, soonAt: now + sweepDelay(serviceId, spreadMs), now });
      }
    }
  };

  const remove = (serviceId: number) => {
    schedule.remove(serviceId);
    actors.remove(serviceId);
  };

  const recheck = (serviceIds: readonly number[], spreadMs: number) => {
    const now = clock.now();
    for (const serviceId of serviceIds) {
      // After the prober was offline, when all attempts took long.
      if (spreadMs > 0) schedule.noteLength(serviceId, false);
      send(serviceId, { type: 'recheck', at: now + sweepDelay(serviceId, spreadMs) });
    }
  };

  const finishIfIdle = () => {
    // Attempts in flight end first; a check between two attempts gives no verdict.
    if (slots.busy === 0) finish(null);
  };

  const finish = (error: Error | null) => {
    stopping = true;
    cancelTimers();
    flush();
    if (error === null) post({ type: 'stopped', epoch });
    else aborting.abort(error);
    port.close();
    if (error === null) finished.resolve();
    else finished.reject(error);
  };

  port.on('message', (message: ToHost) => {
    ticker.wake();
    switch (message.type) {
      case 'assign':
        assign(message);
        return post({ type: 'assigned', epoch });
      case 'remove':
        return message.serviceIds.forEach(remove);
      case 'recheck':
        return recheck(message.serviceIds, message.spreadMs);
      case 'shift':
        phaseShiftMs = message.phaseShiftMs;
        return;
      case 'stop':
        stopping = true;
        return finishIfIdle();
    }
  });

  const emptyTicksAhead = () =>
    Math.floor(schedule.emptyAhead(MAX_EMPTY_TICKS * SCHEDULE_TICKS) / SCHEDULE_TICKS);

  /** Checks that became due between two ticks. */
  let cameBetween = 0;
  let cancelBetween: (() => void) | null = null;
  const turnBetween = () => {
    cameBetween += schedule.turn();
    pump();
  };

  const ticker = startTicker({
    clock,
    tickMs: TICK_MS,
    onTick(leftOut) {
      loopDelay.note(clock.monotonic());
      Atomics.add(loopTicks, 0, 1);
      for (let empty = 0; empty < leftOut; empty++) pacer.note(0);
      pacer.note(schedule.turn() + cameBetween);
      cameBetween = 0;
      pump();
      // With few checks, it is worth more that the thread sleeps than that a check starts some milliseconds earlier.
      if (pacer.isBusy()) cancelBetween = clock.after(TICK_MS / 2, turnBetween);
    },
    // The lateness of ticks is measured while attempts are in flight.
    emptyAhead: () => (slots.busy > 0 || schedule.waiting > 0 ? 0 : emptyTicksAhead()),
    onPlan: loopDelay.expect,
  });

  const report = () => {
    // Not process.memoryUsage(), which opens a file and throws while there are too many.
    const { used_heap_size: heapUsed, external_memory: external } = getHeapStatistics();
    const now = clock.monotonic();
    post({
      type: 'report',
      epoch,
      report: {
        services: actors.size,
        openChecks: slots.busy,
        waiting: schedule.waiting,
        shares: schedule.shares(),
        postponed,
        checksDone,
        startDelayMs: startDelays.take(),
        loopDelayMs: loopDelay.worst(now - REPORT_MS, now),
        heapBytes: heapUsed,
        externalBytes: external,
      },
    });
    const lost = slots.findOverdue();
    if (lost !== null) finish(new Error(`an attempt of service ${lost} did not end within its time-out`));
  };

  const cancelReports = clock.every(REPORT_MS, report);
  const cancelTimers = () => {
    ticker.stop();
    cancelBetween?.();
    cancelReports();
  };

  post({ type: 'ready', epoch, threadId });
  return finished.promise;
}

/** The account of a service in the queue. */
function accountKey({ origin, accountId }: CheckTarget): number {
  return origin === 'catalogue' ? CATALOGUE : (accountId ?? UNKNOWN_ACCOUNT);
}

/** Maximum length of the text of an error, characters. */
const MAX_PROBLEM = 2_000;

/** The stack of an error, or its message where there is no stack. */
function problemOf(error: unknown): string {
  const { stack, message } = toError(error);
  return (stack ?? message).slice(0, MAX_PROBLEM);
}
