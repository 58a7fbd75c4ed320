/**
 * When requests start, so that turns of the event loop stay short: Node.js accepts one connection in each turn, so a heartbeat on a new
 * connection waits for as many turns as there are connections before it. The API goes before pages and pictures, of which one starts in each turn, and heartbeats wait for nothing.
 */
import type { Clock } from '../clock.ts';

/** How much a request costs: a page is rendered in a turn of its own; others share one. */
export type Cost = 'page' | 'small';

/** Requests that share a turn start within this time, milliseconds. */
const SHARED_MS = 2;

interface Waiting {
  readonly cost: Cost;
  readonly start: () => void;
  readonly sinceMs: number;
}

/** The turns of this process. */
export type Turns = ReturnType<typeof createTurns>;

/** Creates the turns. `nextTurn` calls a function in the next turn of the event loop. */
export function createTurns(
  { monotonic }: Pick<Clock, 'monotonic'>,
  nextTurn: (begin: () => void) => void = setImmediate,
) {
  const [first, later]: [Waiting[], Waiting[]] = [[], []];
  /** When the first request of this turn started; null: none has. */
  let begunMs: number | null = null;
  let hasPage = false;

  const hasRoom = (cost: Cost): boolean =>
    !(cost === 'page' && hasPage) && (begunMs === null || monotonic() - begunMs < SHARED_MS);
  /** Counts a request that starts now. */
  const take = (cost: Cost): void => {
    if (begunMs === null) {
      begunMs = monotonic();
      nextTurn(begin);
    }
    if (cost === 'page') hasPage = true;
  };
  /** Starts what waits in a queue while there is room, and so many at the least. */
  const startWaiting = (queue: Waiting[], least: number): void => {
    let started = 0;
    for (
      let next = queue[0];
      next !== undefined && (started < least || hasRoom(next.cost));
      next = queue[0]
    ) {
      queue.shift();
      take(next.cost);
      next.start();
      started++;
    }
  };
  const begin = (): void => {
    begunMs = null;
    hasPage = false;
    startWaiting(first, 0);
    // One at the least, so that pages get an answer, or their refusal, however much the API is asked.
    startWaiting(later, 1);
  };

  return {
    /**
     * Runs a task in this turn, or in a later one, with the time for which it has waited, milliseconds. `isFirst`: it precedes those
     * that are not, such as a request of the API.
     */
    run<T>(cost: Cost, isFirst: boolean, task: (waitedMs: number) => Promise<T>): Promise<T> {
      const queue = isFirst ? first : later;
      if (first.length === 0 && (isFirst || later.length === 0) && hasRoom(cost)) {
        take(cost);
        return task(0);
      }
      const sinceMs = monotonic();
      return new Promise((resolve, reject) => {
        queue.push({ cost, sinceMs, start: () => void task(monotonic() - sinceMs).then(resolve, reject) });
      });
    },
    /** How long the oldest of the waiting requests has waited, milliseconds; 0: none waits. */
    waitedMs(): { readonly first: number; readonly others: number } {
      const ageOf = ([oldest]: readonly Waiting[]) =>
        oldest === undefined ? 0 : monotonic() - oldest.sinceMs;
      return { first: ageOf(first), others: ageOf(later) };
    },
  };
}
