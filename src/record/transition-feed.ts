/** Notifies the listeners of transitions, of each one once and in order of position. */
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import type { UpdateStore } from '../store/ports/updates.ts';

const PAGE = 1_000;
const RETRY_MS = 1_000;

/** Makes the feed of one process. */
export function createTransitionFeed(
  registry: Pick<UpdateStore, 'transitionsAfter' | 'lastTransition'>,
  clock: Pick<Clock, 'after'>,
  log: Log,
) {
  const listeners = createTransitionListeners(log);
  let isStopped = false;
  let cancelRetry: (() => void) | null = null;

  async function catchUp(): Promise<void> {
    try {
      for (;;) {
        const page = await registry.transitionsAfter(listeners.position(), PAGE);
        page.forEach(listeners.announce);
        if (page.length < PAGE) return;
      }
    } catch (error) {
      log.warn({ error, position: listeners.position() }, 'the transition feed could not be read; retrying');
      if (isStopped) return;
      cancelRetry ??= clock.after(RETRY_MS, () => {
        cancelRetry = null;
        void catchUp();
      });
    }
  }

  return {
    /** Starts after the newest transition of the registry. */
    async load(): Promise<void> {
      listeners.startAfter(await registry.lastTransition());
    },
    watch: listeners.watch,
    /**
     * Takes transitions that were just committed. If they leave a gap after the newest one, or `isBehind` says that one
     * was committed whose position is not known, the feed continues from the registry.
     */
    async announce(transitions: readonly Transition[], isBehind: boolean): Promise<void> {
      const ordered = [...transitions].sort((a, b) => a.position - b.position);
      const last = ordered.at(-1);
      const isGapless = last === undefined || last.position === listeners.position() + ordered.length;
      if (isBehind || !isGapless) await catchUp();
      else ordered.forEach(listeners.announce);
    },
    stop(): void {
      isStopped = true;
      cancelRetry?.();
    },
  };
}

/** Makes an empty set of listeners of transitions. What one of them throws is logged. */
export function createTransitionListeners(log: Log) {
  const listeners = createListeners<[transition: Transition]>((error, { position }) =>
    log.error({ error, position }, 'a transition listener failed'),
  );
  let announced = 0;
  return {
    /** Notifies all listeners, unless this transition or a later one was announced already. */
    announce(transition: Transition): void {
      if (transition.position <= announced) return;
      announced = transition.position;
      listeners.notify(transition);
    },
    /** Adds a listener; the returned function removes it. */
    watch: listeners.add,
    /** Position of the newest transition that was announced; 0: none was. */
    position: () => announced,
    /** Counts everything up to `position` as announced. */
    startAfter(position: number): void {
      announced = position;
    },
  };
}
