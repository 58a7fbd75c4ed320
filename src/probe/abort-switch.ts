/** Ends budgets by an abort signal that many attempts share, with one listener for all of them. */
import type { Budget } from '../outbound/budget.ts';

/** Ties a budget to a signal; the function returned unties it. */
export type AbortSwitch = (signal: AbortSignal, budget: Budget) => () => void;

/** A listener for each attempt would cost more than the rest of its set-up, and warn of a leak past ten. */
export function createAbortSwitch(): AbortSwitch {
  const tied = new WeakMap<AbortSignal, Set<Budget>>();
  return (signal, budget) => {
    let budgets = tied.get(signal);
    if (budgets === undefined) {
      const listed = new Set<Budget>();
      budgets = listed;
      tied.set(signal, listed);
      signal.addEventListener(
        'abort',
        () => {
          for (const each of listed) each.abort();
        },
        { once: true },
      );
    }
    const listed = budgets.add(budget);
    return () => void listed.delete(budget);
  };
}
