/** Listeners of transitions: notified of each one once, in order of position, whatever another listener throws. */
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';

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
