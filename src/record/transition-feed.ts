/** Tells the watchers of transitions, each once and in the order of their positions. */
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import type { Registry } from '../store/ports/registry.ts';

const PAGE = 1_000;
const RETRY_MS = 1_000;

/** The feed of one process. */
export interface TransitionFeed {
  /** Starts after the newest transition that the registry knows. */
  load(): Promise<void>;
  watch(listener: (transition: Transition) => void): () => void;
  /**
   * Takes transitions that were just committed. Where they do not continue what was told, or `behind` says that one
   * was committed whose position is not known, the feed reads on from the registry.
   */
  tell(transitions: readonly Transition[], behind: boolean): Promise<void>;
  stop(): void;
}

/** Makes the feed. */
export function createTransitionFeed(
  registry: Pick<Registry, 'transitionsAfter' | 'lastTransition'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
): TransitionFeed {
  const listeners = new Set<(transition: Transition) => void>();
  let toldUpTo = 0;
  let stopped = false;
  let cancelRetry: (() => void) | null = null;

  function announce(transition: Transition): void {
    if (transition.position <= toldUpTo) return;
    toldUpTo = transition.position;
    for (const listener of listeners) {
      try {
        listener(transition);
      } catch (error) {
        log.error({ error, position: transition.position }, 'a watcher of transitions failed');
      }
    }
  }

  async function catchUp(): Promise<void> {
    try {
      for (;;) {
        const page = await registry.transitionsAfter(toldUpTo, PAGE);
        for (const transition of page) announce(transition);
        if (page.length < PAGE) return;
      }
    } catch (error) {
      log.warn({ error, position: toldUpTo }, 'the feed of transitions could not be read; trying again');
      if (stopped) return;
      cancelRetry ??= clock.after(RETRY_MS, () => {
        cancelRetry = null;
        void catchUp();
      });
    }
  }

  return {
    async load() {
      toldUpTo = await registry.lastTransition();
    },
    watch(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async tell(transitions, behind) {
      const ordered = [...transitions].sort((a, b) => a.position - b.position);
      const last = ordered.at(-1);
      const gapless = last === undefined || last.position === toldUpTo + ordered.length;
      if (behind || !gapless) await catchUp();
      else for (const transition of ordered) announce(transition);
    },
    stop() {
      stopped = true;
      cancelRetry?.();
    },
  };
}
