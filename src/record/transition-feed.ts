/** Notifies the listeners of transitions, of each one once and in order of position. */
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import type { UpdateStore } from '../store/ports/updates.ts';

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

/** The listeners of one process. */
export interface TransitionListeners {
  /** Notifies all listeners, unless this transition or a later one was announced already. */
  announce(transition: Transition): void;
  /** Adds a listener; the returned function removes it. */
  watch(listener: (transition: Transition) => void): () => void;
  /** Position of the newest transition that was announced; 0: none was. */
  position(): number;
  /** Counts everything up to `position` as announced. */
  startAfter(position: number): void;
}

/** Makes an empty set of listeners. What one of them throws is logged. */
export function createTransitionListeners(log: Log): TransitionListeners {
  const entries = new Set<(transition: Transition) => void>();
  let announced = 0;
  return {
    announce(transition) {
      if (transition.position <= announced) return;
      announced = transition.position;
      for (const notify of entries) {
        try {
          notify(transition);
        } catch (error) {
          log.error({ error, position: transition.position }, 'a transition listener failed');
        }
      }
    },
    watch(listener) {
      const entry = (transition: Transition) => listener(transition);
      entries.add(entry);
      return () => void entries.delete(entry);
    },
    position: () => announced,
    startAfter(position) {
      announced = position;
    },
  };
}
