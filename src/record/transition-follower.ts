/**
 * Transitions in a serving process: read from the shared registry after another process has committed, and published
 * once the copy of the statuses shows them.
 */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import type { InboxStore } from '../store/ports/inbox.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { UpdateStore } from '../store/ports/updates.ts';
import { createTransitionListeners } from './transition-feed.ts';

/** Options of the follower. */
export interface TransitionFollowerOptions {
  readonly registry: Pick<UpdateStore, 'transitionsAfter' | 'lastTransition'> &
    Pick<InboxStore, 'watchOtherProcesses'>;
  readonly status: Pick<StatusStore, 'get' | 'watch'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A running follower. */
export interface TransitionFollower {
  watch(listener: (transition: Transition) => void): () => void;
  /** Publishes everything that the registry has, whether the copy shows it or not. */
  catchUp(): Promise<void>;
  stop(): void;
}

const PAGE_SIZE = 1_000;
const POLL_MS = 1_000;
/** Maximum delay of a transition, milliseconds; Redis may be unavailable and the copy old. */
const MAX_DELAY_MS = 100;

/** Starts after the newest existing transition. */
export async function followTransitions(options: TransitionFollowerOptions): Promise<TransitionFollower> {
  const { registry, status, clock, log } = options;
  const listeners = createTransitionListeners(log);
  let readUpTo = await registry.lastTransition();
  listeners.startAfter(readUpTo);
  let waiting: { readonly transition: Transition; readonly untilMs: number }[] = [];
  const reading = createCoalescingLoop(read);
  const poll = () => void reading.run();

  const isShown = ({ serviceId, seq }: Transition) => (status.get(serviceId)?.seq ?? 0) >= seq;

  /** Publishes what is due, in order: a waiting transition delays those behind it. */
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
        const page = await registry.transitionsAfter(readUpTo, PAGE_SIZE);
        const untilMs = clock.monotonic() + MAX_DELAY_MS;
        for (const transition of page) waiting.push({ transition, untilMs });
        readUpTo = page.at(-1)?.position ?? readUpTo;
        if (page.length > 0) clock.after(MAX_DELAY_MS, publish);
        if (page.length < PAGE_SIZE) break;
      }
      publish();
    } catch (error) {
      log.debug({ problem: (error as Error).message }, 'transitions could not be read; trying again');
    }
  }

  const stops = [registry.watchOtherProcesses(poll), status.watch(publish), clock.every(POLL_MS, poll)];
  return {
    watch: listeners.watch,
    async catchUp() {
      await reading.run();
      publishFirst(waiting.length);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
