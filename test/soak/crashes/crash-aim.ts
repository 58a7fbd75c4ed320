/**
 * Chooses moments at which the program writes something, so that a kill falls between two commits that should be one. Such a gap
 * lasts milliseconds: at random moments one kill in hundreds hits it.
 */
import { EventEmitter, once } from 'node:events';

/** What the program is asked to write: a transition with its incident, or a service with the key of its request. */
export type Deed = 'transition' | 'creation';

/** Takes what the trial knows of the program's next writes. */
export interface Aim {
  /** The program is being asked to write this. */
  note(deed: Deed): void;
  /** Resolves after so many commits after the next such deed, or after `withinMs`, with whether there was a deed and the commits. */
  until(deed: Deed, commits: CommitWatch, count: number, withinMs: number): Promise<boolean>;
}

/** Sees commits of the registry, of a deed or of others. */
export interface CommitWatch {
  /** Resolves with the next commit. Rejects when `signal` aborts. */
  next(signal: AbortSignal): Promise<unknown>;
  close(): unknown;
}

/** Makes an aim. */
export function createAim(): Aim {
  const deeds = new EventEmitter();
  return {
    note: (deed) => void deeds.emit(deed),
    async until(deed, commits, count, withinMs) {
      const signal = AbortSignal.timeout(withinMs);
      try {
        await once(deeds, deed, { signal });
        for (let n = 0; n < count; n++) await commits.next(signal);
        return true;
      } catch (error) {
        if (!signal.aborted) throw error;
        return false;
      } finally {
        await commits.close();
      }
    },
  };
}

/** Holds up this thread, as timers have no parts of milliseconds. */
export function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
