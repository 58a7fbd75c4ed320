/** Follows commits of other processes by reading the feed of changes and the number of commits. */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ServiceChange } from '../ports/services.ts';
import type { WriteWatch } from '../sqlite/watch-writes.ts';

/**
 * Interval of polling, and the delay after a write that was noticed, milliseconds. It is about the time in which the process
 * of a command ends, so that its changes are visible by then.
 */
const POLL_MS = 50;
/** Interval of polling while writes are noticed, milliseconds: some file systems do not tell all of them. */
const WATCHED_POLL_MS = 1_000;
/** A read with fewer changes has reached the end of the feed. */
const CHANGES_PER_READ = 1_000;

/** The source of changes. */
export interface ChangeFeed {
  /** Changes after `seq`, in order; an empty list: none yet. */
  readonly changesAfter: (seq: number) => Promise<readonly ServiceChange[]>;
  /**
   * Calls `onWrite` after each write of any process, and `onFault` once if it no longer does. Absent or null: writes cannot be
   * noticed.
   */
  readonly watchWrites?: ((onWrite: () => void, onFault: () => void) => WriteWatch | null) | null;
  readonly clock: Clock;
  readonly log: Log;
}

/** A running watch. */
export interface ChangeWatch {
  /** Polls at once, because this process has just written a change. Resolves when what was committed before is delivered. */
  poke(): Promise<void>;
  /** Stops the watch. No change is delivered afterwards, even if a poll is in flight. */
  stop(): void;
}

/** Calls `listener` with each change after `seq`, in order. A listener that throws is logged, and continues with the next change. */
export function startChangeWatch(
  { changesAfter, watchWrites = null, clock, log }: ChangeFeed,
  seq: number,
  listener: (change: ServiceChange) => void,
): ChangeWatch {
  let position = seq;
  let failing = false;
  /** Callers that wait for a read which begins after their call. */
  let waiting: (() => void)[] = [];

  const deliver = (change: ServiceChange) => {
    position = change.seq;
    try {
      listener(change);
    } catch (error) {
      log.error({ error, seq: change.seq, slug: change.slug }, 'a service change could not be applied');
    }
  };

  const read = async (isStopped: () => boolean) => {
    // Others may commit without end, so that a caller does not wait until nothing is new.
    let served: (() => void)[] = [];
    const release = () => {
      for (const resolve of served) resolve();
      served = [];
    };
    try {
      let changes: readonly ServiceChange[];
      do {
        if (served.length === 0) [served, waiting] = [waiting, served];
        changes = isStopped() ? [] : await changesAfter(position);
        for (const change of changes) if (!isStopped()) deliver(change);
        if (changes.length < CHANGES_PER_READ) release();
      } while (changes.length > 0);
      failing = false;
    } catch (error) {
      if (!failing && !isStopped()) log.error({ error }, 'the change feed cannot be read');
      failing = true;
    } finally {
      release();
    }
  };
  const polling = startPolling(clock, POLL_MS, read, watchWrites);
  return {
    poke() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      polling.poke();
      return promise;
    },
    stop() {
      polling.stop();
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

/** Interval of polling the number of commits, milliseconds: half of the delay that the port allows. */
const COMMITS_POLL_MS = 25;

/**
 * Calls `onCommit` each time that `version` resolves with a different number, which means that another process has
 * committed. Returns a function that stops the watch. A failed poll is repeated.
 */
export function watchCommits(
  version: () => Promise<number>,
  clock: Pick<Clock, 'after' | 'every'>,
  onCommit: () => void,
): () => void {
  let known: number | null = null;
  return startPolling(clock, COMMITS_POLL_MS, async (isStopped) => {
    try {
      const now = await version();
      const isNew = known !== null && now !== known;
      known = now;
      if (isNew && !isStopped()) onCommit();
    } catch {
      // The reads that follow a commit report the fault.
    }
  }).stop;
}

/**
 * Runs `poll` at once, and again after each interval unless it still runs. Where writes are noticed, it runs within an interval
 * after each, and seldom otherwise.
 */
function startPolling(
  clock: Pick<Clock, 'after' | 'every'>,
  intervalMs: number,
  poll: (isStopped: () => boolean) => Promise<void>,
  watchWrites: ChangeFeed['watchWrites'] = null,
) {
  let stopped = false;
  const polling = createCoalescingLoop(() => poll(() => stopped));
  const poke = () => void polling.run();
  const pollEvery = (ms: number) =>
    clock.every(ms, () => {
      if (!polling.isRunning) poke();
    });
  /** Writes that follow each other are read together. */
  let cancelSoon: Cancel | null = null;
  const pokeSoon = () => {
    if (stopped) return;
    cancelSoon ??= clock.after(intervalMs, () => {
      cancelSoon = null;
      poke();
    });
  };
  const watch =
    watchWrites?.(pokeSoon, () => {
      cancel();
      if (!stopped) cancel = pollEvery(intervalMs);
    }) ?? null;
  let cancel = pollEvery(watch === null ? intervalMs : WATCHED_POLL_MS);
  poke();
  return {
    poke,
    stop() {
      stopped = true;
      cancel();
      cancelSoon?.();
      watch?.stop();
    },
  };
}
