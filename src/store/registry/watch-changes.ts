/** Follows what other processes commit, by polling: the feed of changes, and the number of commits. */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ServiceChange } from '../ports/services.ts';

/**
 * Interval of polling, milliseconds. About as long as the process of a command takes to end: its changes are visible by
 * then.
 */
const POLL_MS = 50;

/** Where changes come from. */
export interface ChangeFeed {
  /** Changes after `seq`, in order; an empty list: none yet. */
  readonly changesAfter: (seq: number) => Promise<readonly ServiceChange[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A listener at work. */
export interface ChangeWatch {
  /** Polls at once, because this process just wrote something. */
  poke(): void;
  /** Delivers no change from now on, even if a poll is in flight. */
  stop(): void;
}

/** Calls `listener` with each change after `seq`, in order. A listener that throws is logged, and continues with the next change. */
export function startChangeWatch(
  { changesAfter, clock, log }: ChangeFeed,
  seq: number,
  listener: (change: ServiceChange) => void,
): ChangeWatch {
  let position = seq;
  let stopped = false;
  let failing = false;

  const deliver = (change: ServiceChange) => {
    position = change.seq;
    try {
      listener(change);
    } catch (error) {
      log.error({ error, seq: change.seq, slug: change.slug }, 'a service change could not be applied');
    }
  };

  const polling = createCoalescingLoop(async () => {
    try {
      let changes: readonly ServiceChange[];
      do {
        changes = stopped ? [] : await changesAfter(position);
        for (const change of changes) if (!stopped) deliver(change);
      } while (changes.length > 0);
      failing = false;
    } catch (error) {
      if (!failing && !stopped) log.error({ error }, 'the change feed cannot be read');
      failing = true;
    }
  });

  const poll = () => void polling.run();
  const cancel = clock.every(POLL_MS, () => {
    if (!polling.isRunning) poll();
  });
  poll();
  return {
    poke: poll,
    stop() {
      stopped = true;
      cancel();
    },
  };
}

/** Interval of polling, milliseconds: half of the delay that the port allows. */
const COMMITS_POLL_MS = 25;

/** What watching needs. */
export interface CommitWatchOptions {
  /** Another number if another process has committed since the last call. */
  readonly version: () => Promise<number>;
  readonly clock: Pick<Clock, 'every'>;
  /** Called after each change of the number. */
  readonly onCommit: () => void;
}

/** Polls until the returned function is called. A failed poll is repeated. */
export function watchCommits({ version, clock, onCommit }: CommitWatchOptions): () => void {
  let known: number | null = null;
  let stopped = false;
  const polling = createCoalescingLoop(async () => {
    try {
      const now = await version();
      const isNew = known !== null && now !== known;
      known = now;
      if (isNew && !stopped) onCommit();
    } catch {
      // The reads that follow a commit report the fault.
    }
  });
  const poll = () => {
    if (!polling.isRunning) void polling.run();
  };
  poll();
  const cancel = clock.every(COMMITS_POLL_MS, poll);
  return () => {
    stopped = true;
    cancel();
  };
}
