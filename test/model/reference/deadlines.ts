/**
 * The reference implementation's deadlines of heartbeats. "D" is the contract's page of decisions, "T" docs/truth.md. Times are
 * monotonic milliseconds where they end in `Ms`, epoch milliseconds otherwise.
 */
import type { DefinedService, Given, Instant } from '../diary.ts';
import type { ReferenceProber } from './prober.ts';
import { untilRun } from './schedule.ts';

/** What the deadlines need of the rest. */
export interface DeadlineSources {
  readonly now: () => Instant;
  /** Time goes on to a look at the deadlines. */
  readonly setNow: (ms: number) => void;
  /** The prober of the monitor itself; undefined: there is none. */
  readonly prober: () => ReferenceProber | undefined;
  /** A deadline at `at` has passed without a heartbeat. */
  readonly miss: (service: number, at: number, isFirst: boolean) => void;
}

interface Deadline {
  at: number;
  dueMs: number;
  missed: number;
  isDoubted: boolean;
}

/** T: a missed heartbeat is found within a second, because the program looks so often. */
const LOOK_MS = 250;
/** T: control targets are asked so long before a deadline, so that it can be trusted. */
const NEAR_MS = 1_500;
/** D: what arrived while the process stood still counts: after a look that is so late, heartbeats are read first. */
const LATE_MS = 750;

/** Makes the deadlines; none runs. */
export function createReferenceDeadlines(given: Given, { now, setNow, prober, miss }: DeadlineSources) {
  const running = new Map<number, Deadline>();
  /** Services that have sent nothing since a deadline passed. */
  const silent = new Set<number>();
  let lookedMs = 0;
  let isRestart = false;

  /** D: "10 minutes after the newest heartbeat", or the period or schedule and the grace of its owner. `from`: epoch milliseconds. */
  function silenceOf(id: number, from: number): number {
    const { periodMs = 0, graceMs = 0, schedule = null } = given.services[id - 1]?.beats ?? {};
    return (schedule === null ? periodMs : untilRun(schedule, from)) + graceMs;
  }

  function restart(id: number, missed = 0): void {
    const { ms, wall } = now();
    const lengthMs = silenceOf(id, wall);
    running.set(id, { at: wall + lengthMs, dueMs: ms + lengthMs, missed, isDoubted: missed > 0 });
  }

  function look(gapMs: number): void {
    if (isRestart) for (const [id, { missed }] of running) restart(id, missed);
    isRestart = false;
    const home = prober();
    // D: "It stands still while the monitor is stopped, asleep, offline".
    if (home?.isOffline() === true || gapMs > LATE_MS) return;
    const { ms } = now();
    for (const [id, deadline] of running) {
      if (!deadline.isDoubted && deadline.dueMs - NEAR_MS <= ms) {
        deadline.isDoubted = true;
        home?.doubt(ms);
      }
      if (deadline.dueMs > ms) continue;
      const { at, missed, dueMs } = deadline;
      // T: a missed deadline counts only if a control target has answered within the last two seconds.
      if (missed === 0 && !(home?.isProven(ms) ?? false)) continue;
      const lengthMs = silenceOf(id, at);
      Object.assign(deadline, { at: at + lengthMs, dueMs: dueMs + lengthMs, missed: missed + 1 });
      silent.add(id);
      miss(id, at, missed === 0);
    }
  }

  return {
    /** A heartbeat has come. */
    restart(id: number): void {
      silent.delete(id);
      restart(id);
    },
    /** H: a service that is paused has no deadline; another period, or the end of the pause, begins a new one. */
    define(before: DefinedService, hasStatus: boolean): void {
      const { id } = before;
      const next = given.services[id - 1];
      if (next?.beats == null || next.state !== 'live' || !hasStatus) running.delete(id);
      else if (!running.has(id) || JSON.stringify(before.beats) !== JSON.stringify(next.beats))
        restart(id, silent.has(id) ? 1 : 0);
    },
    /** D: "afterwards each service gets one full period". */
    restartAll(): void {
      isRestart = true;
    },
    /** The process starts; `known`: services that have sent a heartbeat. */
    start(known: readonly DefinedService[]): void {
      lookedMs = now().ms;
      // A process does not know that the one before it slept.
      isRestart = false;
      for (const { id, beats } of known) if (beats !== null) restart(id, silent.has(id) ? 1 : 0);
    },
    /** Looks at the deadlines until `untilMs`, but not before `stoodUntilMs`, when the process stood still. */
    lookUntil(untilMs: number, stoodUntilMs: number): void {
      if (running.size === 0) {
        const lastMs = untilMs - (untilMs % LOOK_MS);
        // The looks until then had nothing to restart.
        if (lastMs > lookedMs) isRestart = false;
        lookedMs = lastMs;
      }
      for (;;) {
        const nextMs = Math.max(lookedMs - (lookedMs % LOOK_MS) + LOOK_MS, Math.min(stoodUntilMs, untilMs));
        if (nextMs > untilMs || nextMs === lookedMs) return;
        const gapMs = nextMs - lookedMs;
        lookedMs = nextMs;
        setNow(nextMs);
        look(gapMs);
      }
    },
  };
}
