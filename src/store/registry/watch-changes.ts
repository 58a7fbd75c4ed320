/** Follows the feed of changes, whoever writes it: by asking for what is new, often and cheaply. */
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { ServiceChange } from '../ports/services.ts';

/**
 * How often the feed is asked, milliseconds. What a command of another process wrote is to be seen by the time that its
 * process has ended, which takes about as long.
 */
const POLL_MS = 50;

/** Where changes come from. */
export interface ChangeFeed {
  /** Changes after `seq`, in order; an empty list: none yet. */
  readonly changesAfter: (seq: number) => Promise<readonly ServiceChange[]>;
  readonly clock: Clock;
  readonly log: Log;
}

/** A listener at work. */
export interface ChangeWatch {
  /** Asks at once, because something was just written here. */
  poke(): void;
  /** After this no change is delivered, even where one is on its way. */
  stop(): void;
}

/** Calls `listener` with each change after `seq`, in order. A listener that throws is logged, and goes on with the next. */
export function startChangeWatch(
  { changesAfter, clock, log }: ChangeFeed,
  seq: number,
  listener: (change: ServiceChange) => void,
): ChangeWatch {
  let position = seq;
  let stopped = false;
  let asking = false;
  let askAgain = false;
  let failing = false;

  const deliver = (change: ServiceChange) => {
    position = change.seq;
    try {
      listener(change);
    } catch (error) {
      log.error({ error, seq: change.seq, slug: change.slug }, 'a service change could not be applied');
    }
  };

  const ask = async () => {
    if (asking || stopped) {
      askAgain = asking;
      return;
    }
    asking = true;
    try {
      do {
        askAgain = false;
        for (const change of await changesAfter(position)) {
          if (stopped) return;
          deliver(change);
          askAgain = true;
        }
      } while (askAgain && !stopped);
      failing = false;
    } catch (error) {
      if (!failing && !stopped) log.error({ error }, 'the change feed cannot be read');
      failing = true;
    } finally {
      asking = false;
    }
  };

  const cancel = clock.every(POLL_MS, () => void ask());
  void ask();
  return {
    poke: () => void ask(),
    stop() {
      stopped = true;
      cancel();
    },
  };
}
