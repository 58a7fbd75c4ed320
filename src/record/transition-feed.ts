/** Notifies listeners of each transition once, in order of position. */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/status/current.ts';
import { messageOf } from '../error.ts';
import type { Log } from '../log.ts';
import type { InboxStore } from '../store/ports/heartbeats.ts';
import type { StatusReads } from '../store/ports/status.ts';
import type { TransitionReads } from '../store/ports/updates.ts';

const PAGE = 1_000;
const RETRY_MS = 1_000;

export function createTransitionFeed(registry: TransitionReads, clock: Clock, log: Log) {
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
     * Takes transitions that were just committed. If there is a gap after the newest announced one, or `isBehind`
     * reports a committed transition whose position is not known, the feed continues from the registry.
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

/** Creates an empty set of transition listeners. Errors that a listener throws are logged. */
export function createTransitionListeners(log: Log) {
  const listeners = createListeners<[transition: Transition]>((error, { position }) =>
    log.error({ error, position }, 'a transition listener failed'),
  );
  let announced = 0;
  return {
    /** Notifies all listeners, unless this transition or a later one has been announced. */
    announce(transition: Transition): void {
      if (transition.position <= announced) return;
      announced = transition.position;
      listeners.notify(transition);
    },
    /** Adds a listener; the returned function removes it. */
    watch: listeners.add,
    /** Position of the newest announced transition; 0: there is none. */
    position: () => announced,
    /** Marks all transitions up to `position` as announced. */
    startAfter(position: number): void {
      announced = position;
    },
  };
}

const POLL_MS = 1_000;
/** Maximum delay of a transition, milliseconds, since Redis may be unavailable and the copy outdated. */
const MAX_DELAY_MS = 100;

/**
 * Follows the transitions in a serving process: read from the shared registry after another process has committed, and
 * published once the copy of the statuses shows them. Starts after the newest existing transition.
 */
export async function followTransitions(options: {
  readonly registry: TransitionReads & InboxStore;
  readonly status: StatusReads;
  readonly clock: Clock;
  readonly log: Log;
}) {
  const { registry, status, clock, log } = options;
  const listeners = createTransitionListeners(log);
  let readUpTo = await registry.lastTransition();
  listeners.startAfter(readUpTo);
  let waiting: { readonly transition: Transition; readonly untilMs: number }[] = [];
  const reading = createCoalescingLoop(read);
  const poll = () => void reading.run();

  const isShown = ({ serviceId, seq }: Transition) => (status.get(serviceId)?.seq ?? 0) >= seq;

  /** Publishes due transitions in order. A waiting transition delays those behind it. */
  function publish(): void {
    const nowMs = clock.monotonic();
    const firstWaiting = waiting.findIndex(
      ({ transition, untilMs }) => untilMs > nowMs && !isShown(transition),
    );
    publishFirst(firstWaiting === -1 ? waiting.length : firstWaiting);
  }

  function publishFirst(count: number): void {
    const due = waiting.slice(0, count);
    waiting = waiting.slice(count);
    for (const { transition } of due) listeners.announce(transition);
  }

  async function read(): Promise<void> {
    try {
      for (;;) {
        const page = await registry.transitionsAfter(readUpTo, PAGE);
        const untilMs = clock.monotonic() + MAX_DELAY_MS;
        for (const transition of page) waiting.push({ transition, untilMs });
        readUpTo = page.at(-1)?.position ?? readUpTo;
        if (page.length > 0) clock.after(MAX_DELAY_MS, publish);
        if (page.length < PAGE) break;
      }
      publish();
    } catch (error) {
      log.debug({ problem: messageOf(error) }, 'transitions could not be read; trying again');
    }
  }

  const stops = [registry.watchOtherProcesses(poll), status.watch(publish), clock.every(POLL_MS, poll)];
  return {
    watch: listeners.watch,
    /** Publishes all transitions of the registry, even if the copy does not show them yet. */
    async catchUp(): Promise<void> {
      await reading.run();
      publishFirst(waiting.length);
    },
    stop(): void {
      for (const stop of stops) stop();
    },
  };
}
