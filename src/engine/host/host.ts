/**
 * The life of one probe thread: a timing wheel wakes the actors, slots bound their open attempts, results leave in
 * packed batches. Runs until it is told to stop; a bug in an actor or in the prober ends it with a throw, and the
 * supervisor decides.
 */
import { createActorGroup } from '../../actor/actor-group.ts';
import type { Clock } from '../../clock.ts';
import type { CheckTarget, RunAttempt } from '../../domain/check-target.ts';
import type { Attempt, CheckResult } from '../../domain/result.ts';
import type { FromHost, HostTask, ToHost } from '../protocol.ts';
import { packResults } from '../result-packing.ts';
import { createLoopDelay } from './loop-delay.ts';
import { firstDue, sweepDelay } from './phase.ts';
import {
  createProbeHandler,
  type ProbeEffect,
  type ProbeMessage,
  type ProbeState,
  restingProbe,
} from './probe-actor.ts';
import { createStartDelays } from './start-delays.ts';
import { createTimingWheel } from './timing-wheel.ts';

const TICK_MS = 10;
const BATCH_MS = 100;
const BATCH_RESULTS = 256;
const REPORT_MS = 1_000;
/** Attempts begun in one turn of the event loop: more would make each other's answers wait, and falsify them. */
const STARTS_PER_TURN = 8;
/** An attempt under which the event loop was later than this is not trusted. */
const LATE_LOOP_MS = 250;
/** Doubts of the same moment are told once. */
const DOUBT_PAUSE_MS = 100;
/** An actor gets at most a definition and an answer at a time; more than this is a bug, which `reject` makes visible. */
const MAILBOX_LIMIT = 16;

/** Runs a host until it is told to stop. Rejects with the first fault that is ours. */
export function runHost(task: HostTask, runAttempt: RunAttempt, clock: Clock): Promise<void> {
  const { epoch, port, settings } = task;
  const beats = new Int32Array(task.beats);
  // The wheel runs on the monotonic clock, so that a step of the wall clock neither stalls nor floods it.
  const wheel = createTimingWheel(clock.monotonic(), TICK_MS);
  const loopDelay = createLoopDelay();
  const startDelays = createStartDelays();
  /** Wheel entries are small numbers that are used again; services have any number. */
  const entryOf = new Map<number, number>();
  const serviceOf: number[] = [];
  const freeEntries: number[] = [];
  const dueAt = new Map<number, number>();
  const ready: number[] = [];
  let readyHead = 0;
  const freeSlots = Array.from(
    { length: settings.concurrency },
    (_, index) => settings.concurrency - 1 - index,
  );
  const aborting = new AbortController();
  const finished = Promise.withResolvers<void>();
  let outgoing: CheckResult[] = [];
  let openAttempts = 0;
  let checksDone = 0;
  let stopping = false;
  let pumping = false;
  let lastDoubtAt = Number.NEGATIVE_INFINITY;

  const say = (message: FromHost, transfer: ArrayBuffer[] = []) => port.postMessage(message, transfer);

  const flush = () => {
    if (outgoing.length === 0) return;
    const packed = packResults(outgoing);
    outgoing = [];
    say({ type: 'results', epoch, packed }, [packed.numbers.buffer]);
  };

  const perform = (serviceId: number, effect: ProbeEffect) => {
    switch (effect.type) {
      case 'attempt':
        return attempt(serviceId, effect.target, effect.number);
      case 'wake':
        return wake(serviceId, effect.at);
      case 'report':
        checksDone++;
        if (outgoing.push(effect.result) >= BATCH_RESULTS) flush();
        return;
      case 'doubt': {
        const now = clock.monotonic();
        if (now - lastDoubtAt < DOUBT_PAUSE_MS) return;
        lastDoubtAt = now;
        return say({ type: 'doubt', epoch, failedAt: effect.failedAt });
      }
    }
  };
  const actors = createActorGroup<ProbeState, ProbeMessage, ProbeEffect>({
    handle: createProbeHandler(settings),
    perform,
    mailboxLimit: MAILBOX_LIMIT,
    overflow: 'reject',
  });

  const wake = (serviceId: number, at: number) => {
    const entry = entryOf.get(serviceId);
    if (entry === undefined) return;
    dueAt.set(serviceId, at);
    wheel.schedule(entry, clock.monotonic() + at - clock.now());
  };

  const attempt = (serviceId: number, target: CheckTarget, number: number) => {
    const slot = freeSlots.pop() as number;
    const startedMs = clock.monotonic();
    openAttempts++;
    const options = { timeoutMs: settings.timeoutMs, number, slot, signal: aborting.signal };
    const settle = (message: ProbeMessage) => {
      openAttempts--;
      freeSlots.push(slot);
      actors.send(serviceId, message);
      if (stopping) leaveWhenQuiet();
      else pump();
    };
    runAttempt(target, options).then(
      (made) => {
        const loopDelayMs = loopDelay.worstSince(startedMs);
        settle({
          type: 'attempted',
          attempt: distrustLate(made, loopDelayMs),
          now: clock.now(),
          loopDelayMs,
        });
      },
      (error) => {
        if (aborting.signal.aborted) settle({ type: 'aborted' });
        else finish(error as Error);
      },
    );
  };

  /** Begins what is ready, a few in each turn of the event loop, as far as slots are free. */
  const pump = () => {
    if (pumping) return;
    for (let started = 0; started < STARTS_PER_TURN && freeSlots.length > 0 && !stopping; ) {
      const serviceId = ready[readyHead];
      if (serviceId === undefined) {
        ready.length = 0;
        readyHead = 0;
        return;
      }
      readyHead++;
      const due = dueAt.get(serviceId);
      if (due === undefined) continue;
      dueAt.delete(serviceId);
      const now = clock.now();
      startDelays.note(now - due);
      actors.send(serviceId, { type: 'due', now });
      started++;
    }
    if (readyHead < ready.length && freeSlots.length > 0 && !stopping) {
      pumping = true;
      setImmediate(() => {
        pumping = false;
        pump();
      });
    }
  };

  const assign = (target: CheckTarget, spreadMs: number) => {
    const { serviceId } = target;
    const known = actors.state(serviceId);
    if (known !== undefined) {
      if (target.revision <= known.target.revision) return;
      actors.send(serviceId, { type: 'defined', target });
      // A changed service that rests is checked soon, as its owner waits for the outcome.
      if (known.checking === null) wake(serviceId, clock.now() + sweepDelay(serviceId, spreadMs));
      return;
    }
    const entry = freeEntries.pop() ?? serviceOf.length;
    serviceOf[entry] = serviceId;
    entryOf.set(serviceId, entry);
    actors.add(serviceId, restingProbe(target));
    wake(serviceId, firstDue(serviceId, target.lastCheckedAt, clock.now(), settings.intervalMs, spreadMs));
  };

  const remove = (serviceId: number) => {
    const entry = entryOf.get(serviceId);
    if (entry === undefined) return;
    wheel.cancel(entry);
    entryOf.delete(serviceId);
    dueAt.delete(serviceId);
    freeEntries.push(entry);
    actors.remove(serviceId);
  };

  const recheck = (serviceIds: readonly number[], spreadMs: number) => {
    const now = clock.now();
    for (const serviceId of serviceIds) {
      if (actors.state(serviceId)?.checking === null) wake(serviceId, now + sweepDelay(serviceId, spreadMs));
    }
  };

  const stop = () => {
    if (stopping) return;
    stopping = true;
    // A check between two attempts gives no verdict; attempts in flight may end.
    leaveWhenQuiet();
  };

  const leaveWhenQuiet = () => {
    if (openAttempts > 0) return;
    flush();
    say({ type: 'stopped', epoch });
    finish(null);
  };

  const finish = (error: Error | null) => {
    cancelTimers();
    if (error !== null) aborting.abort(error);
    port.close();
    if (error === null) finished.resolve();
    else finished.reject(error);
  };

  port.on('message', (message: ToHost) => {
    switch (message.type) {
      case 'assign':
        for (const target of message.services) assign(target, message.spreadMs);
        return;
      case 'remove':
        return message.serviceIds.forEach(remove);
      case 'recheck':
        return recheck(message.serviceIds, message.spreadMs);
      case 'stop':
        return stop();
    }
  });

  let nextTickMs = clock.monotonic() + TICK_MS;
  const tick = setInterval(() => {
    const now = clock.monotonic();
    loopDelay.note(nextTickMs, now);
    nextTickMs = now + TICK_MS;
    Atomics.add(beats, 0, 1);
    wheel.advance(now, (entry) => ready.push(serviceOf[entry] as number));
    pump();
  }, TICK_MS);
  const batching = setInterval(flush, BATCH_MS);
  const reporting = setInterval(() => {
    const { heapUsed, external } = process.memoryUsage();
    say({
      type: 'beat',
      epoch,
      report: {
        services: actors.size,
        openChecks: openAttempts,
        checksDone,
        startDelayMs: startDelays.take(),
        loopDelayMs: loopDelay.worstSince(clock.monotonic() - REPORT_MS),
        heapBytes: heapUsed,
        externalBytes: external,
      },
    });
  }, REPORT_MS);
  const cancelTimers = () => {
    clearInterval(tick);
    clearInterval(batching);
    clearInterval(reporting);
  };

  say({ type: 'ready', epoch });
  return finished.promise;
}

/** Marks an attempt during which our own event loop was late: neither its failure nor its latency is the target's. */
function distrustLate(attempt: Attempt, loopDelayMs: number): Attempt {
  if (loopDelayMs <= LATE_LOOP_MS || attempt.suspect !== null) return attempt;
  return { ...attempt, suspect: 'loop_late' };
}
