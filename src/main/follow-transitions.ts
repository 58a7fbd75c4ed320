/**
 * Transitions in a serving process: read from the shared registry after another process has committed, and published
 * once the copy of the statuses shows them.
 */
import type { Clock } from '../clock.ts';
import type { Transition } from '../domain/current.ts';
import type { Log } from '../log.ts';
import { createTransitionListeners } from '../record/transition-feed.ts';
import type { InboxStore } from '../store/ports/inbox.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { UpdateStore } from '../store/ports/updates.ts';

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

const PAGE = 1_000;
const LOOK_MS = 1_000;
/** Maximum delay of a transition, milliseconds; Redis may be unavailable and the copy old. */
const MAX_WAIT_MS = 100;

/** Starts after the newest existing transition. */
export async function followTransitions(options: TransitionFollowerOptions): Promise<TransitionFollower> {
  const { registry, status, clock, log } = options;
  const listeners = createTransitionListeners(log);
  let readUpTo = await registry.lastTransition();
  listeners.startAfter(readUpTo);
  let waiting: { readonly transition: Transition; readonly untilMs: number }[] = [];
  let reading: Promise<void> | null = null;
  let again = false;

  const isShown = ({ serviceId, seq }: Transition) => (status.get(serviceId)?.seq ?? 0) >= seq;

  function tell(all: boolean): void {
    const nowMs = clock.monotonic();
    // In order: a waiting transition holds up those behind it.
    const stay = all
      ? -1
      : waiting.findIndex(({ transition, untilMs }) => untilMs > nowMs && !isShown(transition));
    const due = stay === -1 ? waiting : waiting.slice(0, stay);
    waiting = stay === -1 ? [] : waiting.slice(stay);
    for (const { transition } of due) listeners.announce(transition);
  }

  async function read(): Promise<void> {
    try {
      do {
        again = false;
        for (;;) {
          const page = await registry.transitionsAfter(readUpTo, PAGE);
          const untilMs = clock.monotonic() + MAX_WAIT_MS;
          for (const transition of page) waiting.push({ transition, untilMs });
          readUpTo = page.at(-1)?.position ?? readUpTo;
          if (page.length > 0) clock.after(MAX_WAIT_MS, () => tell(false));
          if (page.length < PAGE) break;
        }
        tell(false);
      } while (again);
    } catch (error) {
      log.debug({ problem: (error as Error).message }, 'transitions could not be read; trying again');
    }
  }

  function look(): Promise<void> {
    again = true;
    reading ??= read().finally(() => {
      reading = null;
    });
    return reading;
  }

  const stops = [
    registry.watchOtherProcesses(() => void look()),
    status.watch(() => tell(false)),
    clock.every(LOOK_MS, () => void look()),
  ];
  return {
    watch: listeners.watch,
    async catchUp() {
      await look();
      await look();
      tell(true);
    },
    stop() {
      for (const stop of stops) stop();
    },
  };
}
