/**
 * Chooses moments at which the program writes something, so that a kill falls between two commits that should be one. Such a gap
 * lasts milliseconds: at random moments one kill in hundreds hits it.
 */
import { EventEmitter, once } from 'node:events';
import { watch } from 'node:fs';

/** What the program is asked to write: a transition with its incident, or a service with the key of its request. */
export type Deed = 'transition' | 'creation';

/** Takes what the trial knows of the program's next writes. */
export interface Aim {
  /** The program is being asked to write this. */
  note(deed: Deed): void;
  /**
   * Resolves when `file` has changed so many times after the next such deed, or after `withinMs`, with whether there was a deed and
   * its changes. `file` is what changes with a commit, of this deed or of another; null: only the deed is waited for.
   */
  until(deed: Deed, file: string | null, changes: number, withinMs: number): Promise<boolean>;
}

/** Makes an aim. */
export function createAim(): Aim {
  const deeds = new EventEmitter();
  return {
    note: (deed) => void deeds.emit(deed),
    async until(deed, file, changes, withinMs) {
      const signal = AbortSignal.timeout(withinMs);
      // Before the deed, since the commit follows soon.
      const watcher = file === null ? null : watch(file);
      try {
        await once(deeds, deed, { signal });
        for (let n = 0; watcher !== null && n < changes; n++) await once(watcher, 'change', { signal });
        return true;
      } catch (error) {
        if (!signal.aborted) throw error;
        return false;
      } finally {
        watcher?.close();
      }
    },
  };
}

/** Holds up this thread, as timers have no parts of milliseconds. */
export function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}
