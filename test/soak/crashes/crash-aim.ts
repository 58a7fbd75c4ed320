/**
 * Chooses moments at which the program writes something, so that a kill falls between two commits that should be one. Such a gap
 * lasts milliseconds: at random moments one kill in hundreds hits it.
 */
import { EventEmitter, once } from 'node:events';
import { type FSWatcher, watch } from 'node:fs';

/** What the program is about to write: a transition with its incident, or a service with the key of its request. */
export const DEEDS = ['transition', 'creation'] as const;

/** One of {@link DEEDS}. */
export type Deed = (typeof DEEDS)[number];

/** Takes what the trial knows of the program's next writes. */
export interface Aim {
  /** The program has what it needs to write this. */
  note(deed: Deed): void;
  /**
   * Resolves at the first commit after the next such deed, or without one after `withinMs`, with whether there was a deed. `file`: what
   * changes with a commit; null: only the deed is waited for.
   */
  until(deed: Deed, file: string | null, withinMs: number): Promise<boolean>;
}

/** Makes an aim. */
export function createAim(): Aim {
  const deeds = new EventEmitter();
  return {
    note: (deed) => void deeds.emit(deed),
    async until(deed, file, withinMs) {
      const signal = AbortSignal.timeout(withinMs);
      // Before the deed, since the commit follows within a millisecond.
      const watcher = file === null ? null : watch(file);
      try {
        await once(deeds, deed, { signal });
        if (watcher !== null) await nextChange(watcher, signal);
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

/** Events that came before the call do not count. */
async function nextChange(watcher: FSWatcher, signal: AbortSignal): Promise<void> {
  await once(watcher, 'change', { signal });
}

/** Holds up this thread, as timers have no parts of milliseconds. */
export function spin(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

/**
 * Tells of transitions by the answers of the site that the program checks: a service is down by its third failure in a row and up by
 * the first success after that.
 */
export function watchAnswers(aim: Pick<Aim, 'note'>): (service: number, isGood: boolean) => void {
  const failures = new Map<number, number>();
  return (service, isGood) => {
    const before = failures.get(service) ?? 0;
    failures.set(service, isGood ? 0 : before + 1);
    if (isGood ? before >= ATTEMPTS : before + 1 === ATTEMPTS) aim.note('transition');
  };
}

/** Attempts of a check that fails, with the settings of `install`. */
const ATTEMPTS = 3;
