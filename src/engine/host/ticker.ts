/** The ticks of a host: regular while there is something to do, and few while there is nothing. */
import type { Cancel, Clock } from '../../clock.ts';

/** Maximum number of ticks that are left out at a time: the watchdog of the thread looks every 50 ticks. */
export const MAX_EMPTY_TICKS = 49;

export interface TickerOptions {
  readonly clock: Clock;
  readonly tickMs: number;
  /** Called in every tick with the number of those that were left out before it. */
  readonly onTick: (leftOut: number) => void;
  /** The number of next ticks without work, up to {@link MAX_EMPTY_TICKS}. */
  readonly emptyAhead: () => number;
  /** Called with the time, of the monotonic clock, at which the next tick is due, if that is not one tick ahead. */
  readonly onPlan: (dueMs: number) => void;
}

export function startTicker({ clock, tickMs, onTick, emptyAhead, onPlan }: TickerOptions) {
  let cancelTicks: Cancel | null = null;
  let cancelWait: Cancel | null = null;
  let stopped = false;
  let tickedMs = clock.monotonic();

  const tick = (leftOut: number) => {
    tickedMs = clock.monotonic();
    onTick(leftOut);
    if (!stopped) plan();
  };
  const everyTick = () => tick(0);
  const plan = () => {
    const empty = emptyAhead();
    if (empty === 0) {
      cancelTicks ??= clock.every(tickMs, everyTick);
      return;
    }
    cancelTicks?.();
    cancelTicks = null;
    const dueMs = tickedMs + (empty + 1) * tickMs;
    const waitMs = Math.max(0, dueMs - clock.monotonic());
    onPlan(dueMs);
    cancelWait = clock.after(waitMs, () => {
      cancelWait = null;
      tick(empty);
    });
  };
  cancelTicks = clock.every(tickMs, everyTick);

  return {
    /** Ticks regularly from now on, because there may be something to do before the planned tick. */
    wake(): void {
      if (stopped || cancelWait === null) return;
      cancelWait();
      cancelWait = null;
      onPlan(clock.monotonic() + tickMs);
      cancelTicks = clock.every(tickMs, everyTick);
    },
    /** Leaves out the ticks from now on in which there is nothing to do, because something has ended. */
    rest(): void {
      if (!stopped && cancelTicks !== null && emptyAhead() > 0) plan();
    },
    stop(): void {
      stopped = true;
      cancelTicks?.();
      cancelWait?.();
    },
  };
}
