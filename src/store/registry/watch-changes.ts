/** Follows commits of other processes by polling the feed of changes and the number of commits. */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ServiceChange } from '../ports/services.ts';

/**
 * Interval of polling, milliseconds. It is about the time in which the process of a command ends, so that its changes
 * are visible by then.
 */
const POLL_MS = 50;
/** A read with fewer changes has reached the end of the feed. */
const CHANGES_PER_READ = 1_000;

/** The source of changes. */
export interface ChangeFeed {
  /** Changes after `seq`, in order; an empty list: none yet. */
  readonly changesAfter: (seq: number) => Promise<readonly ServiceChange[]>;
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
  { changesAfter, clock, log }: ChangeFeed,
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

  const polling = startPolling(clock, POLL_MS, async (isStopped) => {
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
  });
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
  clock: Pick<Clock, 'every'>,
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

/** Runs `poll` at once, and again after each interval unless it still runs. */
function startPolling(
  clock: Pick<Clock, 'every'>,
  intervalMs: number,
  poll: (isStopped: () => boolean) => Promise<void>,
) {
  let stopped = false;
  const polling = createCoalescingLoop(() => poll(() => stopped));
  const poke = () => void polling.run();
  const cancel = clock.every(intervalMs, () => {
    if (!polling.isRunning) poke();
  });
  poke();
  return {
    poke,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
