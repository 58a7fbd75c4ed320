/** Notices what other processes commit: by a number that SQLite keeps for that, asked for often and cheaply. */
import type { Clock } from '../../clock.ts';

/** Half of what the port promises, milliseconds. */
const POLL_MS = 25;

/** What watching needs. */
export interface CommitWatchOptions {
  /** Another number where another process has committed since the last call. */
  readonly version: () => Promise<number>;
  readonly clock: Pick<Clock, 'every'>;
  /** Called after each change of the number. */
  readonly onCommit: () => void;
}

/** Watches until the returned function is called. A registry that cannot be asked is asked again. */
export function watchCommits({ version, clock, onCommit }: CommitWatchOptions): () => void {
  let known: number | null = null;
  let asking = false;
  let stopped = false;
  const ask = async () => {
    if (asking) return;
    asking = true;
    try {
      const now = await version();
      const isNew = known !== null && now !== known;
      known = now;
      if (isNew && !stopped) onCommit();
    } catch {
      // Whoever reads what was committed hears of the fault.
    } finally {
      asking = false;
    }
  };
  void ask();
  const cancel = clock.every(POLL_MS, () => void ask());
  return () => {
    stopped = true;
    cancel();
  };
}
