/**
 * When services that report by themselves have been silent for too long (decisions, Heartbeats). Deadlines run by the
 * monotonic clock. They stand still while this process could not have heard anything, and then begin anew.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

/** How often deadlines are looked at: silence is told within a second, its write included. */
const TICK_MS = 250;
/** A tick this late leaves what has arrived meanwhile a turn to be heard first. */
const LATE_MS = 500;
/** A gap this long between two ticks, or between the two clocks, means that the process or the machine stood still. */
const ASLEEP_MS = 2_000;
/** So long before a deadline {@link SilenceWatchOptions.onSoon} is called. */
const SOON_MS = 1_500;

/** What the watch needs. */
export interface SilenceWatchOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** True: heartbeats may not reach us at present, nothing falls due. */
  readonly isDeaf: () => boolean;
  /** A deadline is near. */
  readonly onSoon: () => void;
  /** A deadline has passed; false: ask again at the next tick. */
  readonly onDue: (serviceId: number, deadline: SilenceDeadline) => boolean;
}

/** A deadline. */
export interface SilenceDeadline {
  /** Epoch milliseconds. */
  readonly at: number;
  /** How long the service may be silent, milliseconds. */
  readonly silenceMs: number;
  /** How many of its deadlines have passed since it last spoke; 0: this is the first. */
  readonly missed: number;
}

/** The watch. */
export interface SilenceWatch {
  /** From now on heartbeats can arrive, and each service has a full period. */
  open(): void;
  /** The service has spoken at `heardAt`, epoch milliseconds; or is known to be silent already, by `missed`. */
  arm(serviceId: number, heardAt: number, silenceMs: number, missed?: number): void;
  /** The deadline that runs; null: none does. */
  deadlineOf(serviceId: number): SilenceDeadline | null;
  disarm(serviceId: number): void;
  /** Deadlines that have not passed yet, epoch milliseconds, by service. */
  running(): ReadonlyMap<number, number>;
  /** Heartbeats could not be heard until now: each service gets one full period, from the next tick. */
  restart(): void;
  stop(): void;
}

interface Armed {
  at: number;
  dueMs: number;
  silenceMs: number;
  missed: number;
  toldSoon: boolean;
}

/** Makes the watch; nothing falls due before it is opened. */
export function createSilenceWatch(options: SilenceWatchOptions): SilenceWatch {
  const { clock, log, isDeaf, onSoon, onDue } = options;
  const armed = new Map<number, Armed>();
  /** Services to be looked at in a tick, which is that of their deadline or an earlier one. */
  const ticks = new Map<number, number[]>();
  /** The tick in which a service is looked at; it may stand in others too, where it is passed over. */
  const placed = new Map<number, number>();
  let cancel = (): void => {};
  let nextTick = 0;
  let lastMs = 0;
  let lastAt = 0;
  let restarts = false;

  const place = (serviceId: number, atMs: number): void => {
    const tick = Math.max(nextTick, Math.ceil(atMs / TICK_MS));
    const list = ticks.get(tick);
    if (list === undefined) ticks.set(tick, [serviceId]);
    else list.push(serviceId);
    placed.set(serviceId, tick);
  };

  const begin = (one: Armed, now: number, nowMs: number): void => {
    one.at = now + one.silenceMs;
    one.dueMs = nowMs + one.silenceMs;
    one.toldSoon = one.missed > 0;
  };

  function restartAll(now: number, nowMs: number): void {
    restarts = false;
    ticks.clear();
    placed.clear();
    for (const [serviceId, one] of armed) {
      begin(one, now, nowMs);
      place(serviceId, one.dueMs - SOON_MS);
    }
  }

  function tick(): void {
    const [now, nowMs] = [clock.now(), clock.monotonic()];
    const [wallGap, gap] = [now - lastAt, nowMs - lastMs];
    [lastAt, lastMs] = [now, nowMs];
    const asleep = gap > TICK_MS + ASLEEP_MS || Math.abs(wallGap - gap) > ASLEEP_MS;
    if (asleep && armed.size > 0)
      log.warn(
        { services: armed.size },
        'the monitor or its clock stood still; heartbeat deadlines start again',
      );
    if (asleep || restarts) restartAll(now, nowMs);
    if (gap > TICK_MS + LATE_MS || isDeaf()) return;
    const last = Math.floor(nowMs / TICK_MS);
    for (; nextTick <= last; nextTick++) {
      const list = ticks.get(nextTick);
      if (list === undefined) continue;
      ticks.delete(nextTick);
      for (const serviceId of list) if (placed.get(serviceId) === nextTick) look(serviceId, nowMs);
    }
  }

  function look(serviceId: number, nowMs: number): void {
    placed.delete(serviceId);
    const one = armed.get(serviceId);
    if (one === undefined) return;
    if (one.dueMs - SOON_MS > nowMs) {
      place(serviceId, one.dueMs - SOON_MS);
      return;
    }
    if (!one.toldSoon) {
      one.toldSoon = true;
      onSoon();
    }
    if (one.dueMs > nowMs) place(serviceId, one.dueMs);
    else if (!onDue(serviceId, { at: one.at, silenceMs: one.silenceMs, missed: one.missed }))
      place(serviceId, nowMs + TICK_MS);
    else if (armed.get(serviceId) === one) {
      // It goes on being silent: the next deadline follows this one.
      one.missed += 1;
      one.at += one.silenceMs;
      one.dueMs += one.silenceMs;
      one.toldSoon = true;
      place(serviceId, one.dueMs);
    }
  }

  return {
    open() {
      [lastAt, lastMs] = [clock.now(), clock.monotonic()];
      nextTick = Math.floor(lastMs / TICK_MS);
      restartAll(lastAt, lastMs);
      cancel();
      cancel = clock.every(TICK_MS, tick);
    },
    arm(serviceId, heardAt, silenceMs, missed = 0) {
      const at = heardAt + silenceMs;
      // What was heard by the wall clock, by ours: a heartbeat that waited for its write has used up some of its time.
      const dueMs = clock.monotonic() + Math.min(silenceMs, at - clock.now());
      armed.set(serviceId, { at, dueMs, silenceMs, missed, toldSoon: missed > 0 });
      // One that is looked at earlier anyway is placed anew then: most heartbeats move a number, and nothing else.
      if ((placed.get(serviceId) ?? Number.POSITIVE_INFINITY) * TICK_MS > dueMs - SOON_MS)
        place(serviceId, dueMs - SOON_MS);
    },
    deadlineOf(serviceId) {
      const one = armed.get(serviceId);
      return one === undefined ? null : { at: one.at, silenceMs: one.silenceMs, missed: one.missed };
    },
    disarm: (serviceId) => void armed.delete(serviceId),
    running() {
      const ends = new Map<number, number>();
      for (const [serviceId, { at, missed }] of armed) if (missed === 0) ends.set(serviceId, at);
      return ends;
    },
    restart() {
      restarts = true;
    },
    stop: () => cancel(),
  };
}
