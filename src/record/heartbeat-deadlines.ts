/**
 * The deadlines of heartbeat-monitored services (decisions, Heartbeats). They follow the monotonic clock. They are
 * suspended while heartbeats cannot be received, and then start again with a full period.
 */
import type { Cancel, Clock } from '../clock.ts';
import { isHeartbeatMonitored, silenceOf } from '../domain/heartbeat/heartbeat-rules.ts';
import type { CheckDefinition, Service } from '../domain/service.ts';
import type { Log } from '../log.ts';
import type { ServiceState } from '../store/ports/services.ts';

/** The interval at which the caller calls {@link HeartbeatDeadlines.poll}: a missed heartbeat is committed within a second. */
const DEADLINE_POLL_MS = 250;
/**
 * After a poll this late, heartbeats that have arrived meanwhile are read first, for the length of a period: the next poll may follow
 * at once.
 */
const MAX_LATE_MS = 500;
/** A gap this long between two polls, or between the two clocks, means that the process or the machine was suspended. */
const MIN_SUSPENSION_MS = 2_000;
/** {@link DeadlinePoll.isNear} is true from this long before a deadline. */
const NEAR_MS = 1_500;

export interface Deadline {
  /** Epoch milliseconds. */
  readonly at: number;
  /** The time for which the service may be silent, milliseconds. */
  readonly silenceMs: number;
  /** Number of deadlines that have passed since the last heartbeat of the service; 0: this is the first. */
  readonly missed: number;
}

export interface DueDeadline extends Deadline {
  readonly serviceId: number;
}

export interface DeadlinePoll {
  /** A deadline of a service that is not known to be silent is near or has passed. */
  readonly isNear: boolean;
  /** Deadlines that have passed. The caller calls `pass` or `postpone` for each. */
  readonly due: readonly DueDeadline[];
}

interface Running {
  check: CheckDefinition;
  at: number;
  /** Milliseconds of the monotonic clock. */
  dueMs: number;
  silenceMs: number;
  missed: number;
  wasNear: boolean;
}

/** Creates an empty set of deadlines. `silenceMs` is the period of services whose owners have not configured one. */
export class HeartbeatDeadlines {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #silenceMs: number;
  /** Null: heartbeats cannot be received, so that none is due. */
  #onPoll: (() => void) | null = null;
  #cancelPolls: Cancel | null = null;
  readonly #running = new Map<number, Running>();
  /** Services by the tick in which they are examined: that of their deadline or an earlier one. */
  readonly #ticks = new Map<number, number[]>();
  /** The tick in which a service is examined; its entries in other ticks are skipped. */
  readonly #tickOf = new Map<number, number>();
  #nextTick = 0;
  #lastMs = 0;
  #lastAt = 0;
  /** No deadline is due before this time, milliseconds of the monotonic clock. */
  #dueFromMs = 0;
  #restarts = false;
  /** The time at which all deadlines were last started, epoch milliseconds. */
  #startedAt: number;

  constructor(clock: Clock, log: Log, silenceMs: number) {
    this.#clock = clock;
    this.#log = log;
    this.#silenceMs = silenceMs;
    this.#startedAt = clock.now();
  }

  /**
   * Starts all deadlines with a full period, because heartbeats can be received from now on. Before this call, none
   * is due. `onPoll` is called every {@link DEADLINE_POLL_MS} while there is any deadline.
   */
  start(onPoll: () => void = () => {}): void {
    this.#onPoll = onPoll;
    [this.#lastAt, this.#lastMs] = [this.#clock.now(), this.#clock.monotonic()];
    this.#nextTick = Math.floor(this.#lastMs / DEADLINE_POLL_MS);
    this.#restartAll(this.#lastAt, this.#lastMs);
    if (this.#running.size > 0) this.#startPolls();
  }

  /** Ends the polls. */
  stop(): void {
    this.#onPoll = null;
    this.#cancelPolls?.();
  }

  /**
   * Starts or stops the deadline of a service that was added or revised; a new length starts a new period. `isLate`: the
   * service existed when all deadlines were started, and gets the one that it would have; default: false.
   */
  follow({ service, current, lastArrivedAt = null }: ServiceState, isLate = false): void {
    const hasStatus = lastArrivedAt !== null || current.latest !== null;
    const known = this.#running.get(service.id);
    if (!isHeartbeatMonitored(service) || !hasStatus) this.#running.delete(service.id);
    else if (known === undefined || !isSameLength(known.check, service.check))
      this.#run(
        service,
        isLate ? this.#startedAt : this.#clock.now(),
        current.latest?.source === 'silence' ? 1 : 0,
      );
  }

  /** A heartbeat that counts arrived at `arrivedAt`, epoch milliseconds. */
  receive(service: Service, arrivedAt: number): void {
    this.#run(service, arrivedAt, 0);
  }

  forget(serviceId: number): void {
    void this.#running.delete(serviceId);
  }

  /** The running deadline of the service; null: it has none. */
  get(serviceId: number): Deadline | null {
    const one = this.#running.get(serviceId);
    return one === undefined ? null : { at: one.at, silenceMs: one.silenceMs, missed: one.missed };
  }

  /** Deadlines of services that are not known to be silent, epoch milliseconds, by service. */
  running(): ReadonlyMap<number, number> {
    const ends = new Map<number, number>();
    for (const [serviceId, { at, missed }] of this.#running) if (missed === 0) ends.set(serviceId, at);
    return ends;
  }

  /**
   * Returns the deadlines that are due now. `isUnreachable`: heartbeats may be unable to reach this machine at
   * present, so none is due.
   */
  poll(isUnreachable: boolean): DeadlinePoll {
    const nowMs = this.#clock.monotonic();
    const inTime = this.#checkClocks(this.#clock.now(), nowMs);
    let isNear = false;
    const due: DueDeadline[] = [];
    if (!inTime || isUnreachable) return { isNear, due };
    for (const [serviceId, one] of this.#takeTicks(nowMs)) {
      if (one.dueMs - NEAR_MS > nowMs) {
        this.#schedule(serviceId, one.dueMs - NEAR_MS);
        continue;
      }
      isNear ||= !one.wasNear;
      one.wasNear = true;
      if (one.dueMs > nowMs) this.#schedule(serviceId, one.dueMs);
      else due.push({ serviceId, at: one.at, silenceMs: one.silenceMs, missed: one.missed });
    }
    return { isNear, due };
  }

  /** Schedules the next deadline after another period, because the caller has handled this one as missed. */
  pass(serviceId: number): void {
    const one = this.#running.get(serviceId);
    if (one === undefined) return;
    one.missed += 1;
    one.silenceMs = silenceOf(one.check, this.#silenceMs, one.at);
    one.at += one.silenceMs;
    one.dueMs += one.silenceMs;
    one.wasNear = true;
    this.#schedule(serviceId, one.dueMs);
  }

  /** Makes the next poll return the deadline again. */
  postpone(serviceId: number): void {
    this.#schedule(serviceId, this.#clock.monotonic() + DEADLINE_POLL_MS);
  }

  /** Restarts each deadline with a full period at the next poll, because heartbeats could not be received until now. */
  restart(): void {
    this.#restarts = true;
  }

  #schedule(serviceId: number, atMs: number): void {
    const tick = Math.max(this.#nextTick, Math.ceil(atMs / DEADLINE_POLL_MS));
    const list = this.#ticks.get(tick);
    if (list === undefined) this.#ticks.set(tick, [serviceId]);
    else list.push(serviceId);
    this.#tickOf.set(serviceId, tick);
  }

  #run({ id: serviceId, check }: Service, arrivedAt: number, missed: number): void {
    const lengthMs = silenceOf(check, this.#silenceMs, arrivedAt);
    const at = arrivedAt + lengthMs;
    if (this.#running.size === 0) this.#begin();
    // The period starts at the arrival of the heartbeat, not at its commit.
    const dueMs = this.#clock.monotonic() + Math.min(lengthMs, at - this.#clock.now());
    this.#running.set(serviceId, { check, at, dueMs, silenceMs: lengthMs, missed, wasNear: missed > 0 });
    // A service that is examined before its deadline is rescheduled at that time, so most heartbeats only replace a number.
    if ((this.#tickOf.get(serviceId) ?? Number.POSITIVE_INFINITY) * DEADLINE_POLL_MS > dueMs - NEAR_MS)
      this.#schedule(serviceId, dueMs - NEAR_MS);
  }

  /** Polls begin again: the time without any is no suspension. */
  #begin(): void {
    [this.#lastAt, this.#lastMs] = [this.#clock.now(), this.#clock.monotonic()];
    this.#nextTick = Math.floor(this.#lastMs / DEADLINE_POLL_MS);
    this.#ticks.clear();
    this.#tickOf.clear();
    this.#restarts = false;
    this.#startPolls();
  }

  #startPolls(): void {
    if (this.#onPoll === null || this.#cancelPolls !== null) return;
    this.#cancelPolls = this.#clock.every(DEADLINE_POLL_MS, () => {
      if (this.#running.size > 0) return this.#onPoll?.();
      this.#cancelPolls?.();
      this.#cancelPolls = null;
    });
  }

  #restartAll(now: number, nowMs: number): void {
    this.#restarts = false;
    this.#startedAt = now;
    this.#ticks.clear();
    this.#tickOf.clear();
    for (const [serviceId, one] of this.#running) {
      one.silenceMs = silenceOf(one.check, this.#silenceMs, now);
      one.at = now + one.silenceMs;
      one.dueMs = nowMs + one.silenceMs;
      one.wasNear = one.missed > 0;
      this.#schedule(serviceId, one.dueMs - NEAR_MS);
    }
  }

  /** Restarts all deadlines if the process was suspended. Returns whether this poll may report deadlines. */
  #checkClocks(now: number, nowMs: number): boolean {
    const [wallGapMs, gapMs] = [now - this.#lastAt, nowMs - this.#lastMs];
    [this.#lastAt, this.#lastMs] = [now, nowMs];
    const suspended =
      gapMs > DEADLINE_POLL_MS + MIN_SUSPENSION_MS || Math.abs(wallGapMs - gapMs) > MIN_SUSPENSION_MS;
    if (suspended && this.#running.size > 0)
      this.#log.warn(
        { services: this.#running.size },
        'the monitor or its clock stood still; heartbeat deadlines start again',
      );
    if (suspended || this.#restarts) this.#restartAll(now, nowMs);
    if (gapMs > DEADLINE_POLL_MS + MAX_LATE_MS) this.#dueFromMs = nowMs + DEADLINE_POLL_MS;
    return nowMs >= this.#dueFromMs;
  }

  *#takeTicks(nowMs: number): Generator<readonly [number, Running]> {
    for (const last = Math.floor(nowMs / DEADLINE_POLL_MS); this.#nextTick <= last; this.#nextTick++) {
      const list = this.#ticks.get(this.#nextTick) ?? [];
      this.#ticks.delete(this.#nextTick);
      for (const serviceId of list) {
        if (this.#tickOf.get(serviceId) !== this.#nextTick) continue;
        this.#tickOf.delete(serviceId);
        const one = this.#running.get(serviceId);
        if (one !== undefined) yield [serviceId, one];
      }
    }
  }
}

/** Returns true if two definitions allow the same silence. */
function isSameLength(a: CheckDefinition, b: CheckDefinition): boolean {
  return (
    a.periodMs === b.periodMs &&
    a.graceMs === b.graceMs &&
    a.schedule?.cron === b.schedule?.cron &&
    a.schedule?.timezone === b.schedule?.timezone
  );
}
