/** Those who are told of transitions: each once, in the order of their positions, and none by another's fault. */
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';

/** The listeners of one process. */
export interface TransitionListeners {
  /** Tells everybody, unless this transition or a later one was told already. */
  announce(transition: Transition): void;
  /** Adds a listener; the answer takes it away again. */
  watch(listener: (transition: Transition) => void): () => void;
  /** Position of the newest transition that was told; 0: none was. */
  position(): number;
  /** Takes everything up to `position` for told. */
  startAfter(position: number): void;
}

/** Makes an empty set of listeners. What one of them throws goes to the log. */
export function createTransitionListeners(log: Log): TransitionListeners {
  const entries = new Set<(transition: Transition) => void>();
  let told = 0;
  return {
    announce(transition) {
      if (transition.position <= told) return;
      told = transition.position;
      for (const entry of entries) {
        try {
          entry(transition);
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
    position: () => told,
    startAfter(position) {
      told = position;
    },
  };
}
