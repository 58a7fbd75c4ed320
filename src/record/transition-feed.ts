/** Notifies the listeners of transitions, of each one once and in order of position. */
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import type { UpdateStore } from '../store/ports/updates.ts';
import { createTransitionListeners } from './transition-listeners.ts';

const PAGE = 1_000;
const RETRY_MS = 1_000;

/** The feed of one process. */
export interface TransitionFeed {
  /** Starts after the newest transition of the registry. */
  load(): Promise<void>;
  watch(listener: (transition: Transition) => void): () => void;
  /**
   * Takes transitions that were just committed. If they leave a gap after the newest one, or `isBehind` says that one
   * was committed whose position is not known, the feed continues from the registry.
   */
  announce(transitions: readonly Transition[], isBehind: boolean): Promise<void>;
  stop(): void;
}

/** Makes the feed. */
export function createTransitionFeed(
  registry: Pick<UpdateStore, 'transitionsAfter' | 'lastTransition'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): TransitionFeed {
  const listeners = createTransitionListeners(log);
  let stopped = false;
  let cancelRetry: (() => void) | null = null;

  async function catchUp(): Promise<void> {
    try {
      for (;;) {
        const page = await registry.transitionsAfter(listeners.position(), PAGE);
        for (const transition of page) listeners.announce(transition);
        if (page.length < PAGE) return;
      }
    } catch (error) {
      log.warn({ error, position: listeners.position() }, 'the transition feed could not be read; retrying');
      if (stopped) return;
      cancelRetry ??= clock.after(RETRY_MS, () => {
        cancelRetry = null;
        void catchUp();
      });
    }
  }

  return {
    async load() {
      listeners.startAfter(await registry.lastTransition());
    },
    watch: listeners.watch,
    async announce(transitions, isBehind) {
      const ordered = [...transitions].sort((a, b) => a.position - b.position);
      const last = ordered.at(-1);
      const gapless = last === undefined || last.position === listeners.position() + ordered.length;
      if (isBehind || !gapless) await catchUp();
      else for (const transition of ordered) listeners.announce(transition);
    },
    stop() {
      stopped = true;
      cancelRetry?.();
    },
  };
}
