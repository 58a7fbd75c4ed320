/** Follows commits of other processes, and the feed of changes. */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Cancel, Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ServiceChange } from '../ports/services.ts';

/** Delay before the feed is read after a write of this process that may have changed services, milliseconds. */
const SOON_MS = 50;
/** Delay before a read that failed is repeated, milliseconds. */
const RETRY_MS = 1_000;
/** A read with fewer changes has reached the end of the feed. */
const CHANGES_PER_READ = 1_000;

export interface ChangeFeed {
  /** Changes after `seq`, in order; an empty list: none yet. */
  readonly changesAfter: (seq: number) => Promise<readonly ServiceChange[]>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ChangeWatch {
  /** Reads at once, because a change was just written. Resolves when what was committed before is delivered. */
  poke(): Promise<void>;
  /** Reads in a moment, because this process has written something. */
  pokeSoon(): void;
  /** Stops the watch. No change is delivered afterwards, even if a read is in flight. */
  stop(): void;
}

/** Calls `listener` with each change after `seq`, in order. A listener that throws is logged, and continues with the next change. */
export function startChangeWatch(
  { changesAfter, clock, log }: ChangeFeed,
  seq: number,
  listener: (change: ServiceChange) => void,
): ChangeWatch {
  let position = seq;
  let isFailing = false;
  let isStopped = false;
  /** Callers that wait for a read which begins after their call. */
  let waiting: (() => void)[] = [];
  let cancelSoon: Cancel | null = null;

  const deliver = (change: ServiceChange) => {
    position = change.seq;
    try {
      listener(change);
    } catch (error) {
      log.error({ error, seq: change.seq, slug: change.slug }, 'a service change could not be applied');
    }
  };

  const reading = createCoalescingLoop(async () => {
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
        changes = isStopped ? [] : await changesAfter(position);
        for (const change of changes) if (!isStopped) deliver(change);
        if (changes.length < CHANGES_PER_READ) release();
      } while (changes.length > 0);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !isStopped) log.error({ error }, 'the change feed cannot be read');
      isFailing = true;
      readIn(RETRY_MS);
    } finally {
      release();
    }
  });
  function readIn(ms: number): void {
    if (isStopped) return;
    cancelSoon ??= clock.after(ms, () => {
      cancelSoon = null;
      void reading.run();
    });
  }

  void reading.run();
  return {
    poke() {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      void reading.run();
      return promise;
    },
    pokeSoon: () => readIn(SOON_MS),
    stop() {
      isStopped = true;
      cancelSoon?.();
      for (const resolve of waiting) resolve();
      waiting = [];
    },
  };
}

/**
 * Calls `onCommit` after commits of other connections. `commitAfter` resolves with another number than it was called with once there
 * was one; what it first resolves with is no news. Returns a function that ends it. A call that fails is repeated.
 */
export function followCommits(
  commitAfter: (seen: number) => Promise<number>,
  clock: Clock,
  onCommit: (isNews: boolean) => void,
): () => void {
  let isStopped = false;
  let cancelRetry: Cancel = () => {};
  const follow = async (first: number): Promise<void> => {
    let seen = first;
    try {
      while (!isStopped) {
        const now = await commitAfter(seen);
        if (isStopped) return;
        // The other side has stopped looking: it resolves at once from now on.
        if (now === seen) throw new Error('no commits are noticed any more');
        onCommit(seen !== NONE_SEEN);
        seen = now;
      }
    } catch {
      // The reads that follow a commit report the fault.
      if (!isStopped) cancelRetry = clock.after(RETRY_MS, () => void follow(seen));
    }
  };
  void follow(NONE_SEEN);
  return () => {
    isStopped = true;
    cancelRetry();
  };
}

const NONE_SEEN = -1;
