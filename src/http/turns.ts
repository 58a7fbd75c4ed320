/**
 * The start of requests in turns of the event loop, so that these stay short: Node.js accepts one connection in each turn, so
 * a heartbeat on a new connection waits for as many turns as there are connections before it. In each turn the API comes
 * first, then one page or some pictures, then refusals, each for a short time. Heartbeats wait for nothing.
 */
import { attempt, type MaybeLater } from '../async/at-once.ts';
import type { Clock } from '../clock.ts';

/**
 * The lane of a request in its turn. `api` comes first. Of pages (`page`), one starts in a turn; pictures and streams
 * (`small`) wait in line with them. A request that is `refused` has a separate turn, so that its client does not wait behind
 * those that are served.
 */
export type Lane = 'api' | 'page' | 'small' | 'refused';

/** Requests of the API, and pictures, start within this time of a turn, milliseconds. */
const SHARED_MS = 2;
/** Refusals are made for this time of a turn, milliseconds. */
const REFUSALS_MS = 1;

/** So many requests start in a turn as they come, at the most; more of them than take {@link SHARED_MS} are of one packet. */
const MAX_AT_ONCE = 128;

/**
 * A request that has waited for longer to be started is refused, milliseconds: its client may be gone, and those behind it would
 * wait as long.
 */
export const MAX_TURN_MS = 5_000;

interface Waiting {
  readonly lane: Lane;
  /** Returns true if the client has closed its connection. */
  readonly isGone: () => boolean;
  readonly start: () => void;
  readonly sinceMs: number;
}

export type Turns = ReturnType<typeof createTurns>;

/** The functions of the event loop, which tests replace. */
interface EventLoop {
  /** Calls a function in the next turn of the event loop. */
  readonly nextTurn: (begin: () => void) => void;
  /** Calls a function when all has run that is ready to run, in the same turn. */
  readonly settle: (then: () => void) => void;
}

/** Node.js runs all microtasks, also those that others add, before the ticks that they ask for. */
const afterMicrotasks: EventLoop['settle'] = (then) => queueMicrotask(() => process.nextTick(then));

export function createTurns(
  { monotonic }: Clock,
  { nextTurn = setImmediate, settle = afterMicrotasks }: Partial<EventLoop> = {},
) {
  const [first, later, refused]: [Waiting[], Waiting[], Waiting[]] = [[], [], []];
  /** The time at which the first request of this turn started; null: none has. */
  let begunMs: number | null = null;
  let hasPage = false;
  let hasRefusal = false;
  /** The number of requests that have started in this turn as they came. */
  let atOnce = 0;

  const isOpen = (): boolean => begunMs === null || monotonic() - begunMs < SHARED_MS;
  const hasRoom = (lane: Lane): boolean =>
    lane === 'refused' ? !hasRefusal : !(lane === 'page' && hasPage) && isOpen();
  /** Counts a request that starts now. */
  const take = (lane: Lane): void => {
    if (begunMs === null) {
      begunMs = monotonic();
      nextTurn(begin);
    }
    if (lane === 'page') hasPage = true;
    if (lane === 'refused') hasRefusal = true;
  };
  /** Moves requests that are not served any more from the head of a queue to the refusals, so that they take nobody's turn. */
  const setAside = (queue: Waiting[]): void => {
    for (
      let next = queue[0];
      next !== undefined && (monotonic() - next.sinceMs > MAX_TURN_MS || next.isGone());
      next = queue[0]
    ) {
      queue.shift();
      refused.push({ ...next, lane: 'refused' });
    }
  };
  /**
   * Starts what waits in a queue, one after the other, as long as `mayStart` says so, and `least` at the least; then calls `then`. Most of
   * what a request costs comes after its first `await`, so each has settled before the time is looked at.
   */
  const startWaiting = (
    queue: Waiting[],
    least: number,
    mayStart: (lane: Lane) => boolean,
    then: () => void,
  ): void => {
    if (queue !== refused) setAside(queue);
    const next = queue[0];
    if (next === undefined || (least <= 0 && !mayStart(next.lane))) {
      then();
      return;
    }
    queue.shift();
    take(next.lane);
    next.start();
    settle(() => startWaiting(queue, least - 1, mayStart, then));
  };
  const begin = (): void => {
    begunMs = null;
    hasPage = false;
    hasRefusal = false;
    atOnce = 0;
    startWaiting(first, 0, hasRoom, () => {
      // One at the least, so that pages are served, however much the API is asked.
      startWaiting(later, 1, hasRoom, () => {
        const endsMs = monotonic() + REFUSALS_MS;
        // One at the least, too: a turn in which nothing starts asks for no next one.
        startWaiting(
          refused,
          1,
          () => monotonic() < endsMs,
          () => {},
        );
      });
    });
  };
  const queueOf = (lane: Lane): Waiting[] => (lane === 'api' ? first : lane === 'refused' ? refused : later);
  const isFree = (lane: Lane): boolean =>
    lane === 'refused' ? refused.length === 0 : first.length === 0 && (lane === 'api' || later.length === 0);

  return {
    /**
     * Runs a task in this turn, or in a later one, with the time for which it has waited, milliseconds. One that has waited for longer
     * than {@link MAX_TURN_MS}, or whose client `isGone`, runs among the refusals.
     */
    run<T>(lane: Lane, isGone: () => boolean, task: (waitedMs: number) => MaybeLater<T>): MaybeLater<T> {
      // The requests of different connections come one by one, each after the one before it has settled; those of one packet do not.
      if (atOnce < MAX_AT_ONCE && isFree(lane) && hasRoom(lane)) {
        take(lane);
        atOnce++;
        return task(0);
      }
      const sinceMs = monotonic();
      return new Promise((resolve, reject) => {
        const start = () => void attempt(() => task(monotonic() - sinceMs), resolve, reject);
        queueOf(lane).push({ lane, isGone, sinceMs, start });
      });
    },
    /** The time for which the oldest of the waiting requests has waited, milliseconds; 0: none waits. */
    waitedMs(): { readonly first: number; readonly others: number } {
      const ageOf = ([oldest]: readonly Waiting[]) =>
        oldest === undefined ? 0 : monotonic() - oldest.sinceMs;
      return { first: ageOf(first), others: ageOf(later) };
    },
  };
}
