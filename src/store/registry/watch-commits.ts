/** Detects commits of other processes by polling SQLite's `data_version`. */
import { createCoalescingLoop } from '../../async/coalescing-loop.ts';
import type { Clock } from '../../clock.ts';

/** Interval of polling, milliseconds: half of the delay that the port allows. */
const POLL_MS = 25;

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
  const cancel = clock.every(POLL_MS, poll);
  return () => {
    stopped = true;
    cancel();
  };
}
