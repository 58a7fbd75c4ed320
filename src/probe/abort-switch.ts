/** Ends budgets by an abort signal that many attempts share, with one listener for all of them. */
import type { Budget } from '../outbound/budget.ts';

/** Ties the budget of the attempt in a slot to a signal. */
export interface AbortSwitch {
  tie(signal: AbortSignal, slot: number, budget: Budget): void;
  untie(signal: AbortSignal, slot: number): void;
}

/**
 * Makes a switch for `slots` attempts at a time. A listener for each attempt would cost more than the rest of its
 * set-up, and warn of a leak past ten. The budgets stand in an array: a Set that is added to and deleted from leaves
 * tables behind of which each keeps the next, with all that was in it, until the next full garbage collection.
 */
export function createAbortSwitch(slots: number): AbortSwitch {
  const tied = new WeakMap<AbortSignal, (Budget | null)[]>();
  const listen = (signal: AbortSignal) => {
    const budgets = new Array<Budget | null>(slots).fill(null);
    tied.set(signal, budgets);
    signal.addEventListener(
      'abort',
      () => {
        for (const budget of budgets) budget?.abort();
      },
      { once: true },
    );
    return budgets;
  };
  return {
    tie(signal, slot, budget) {
      const budgets = tied.get(signal) ?? listen(signal);
      budgets[slot] = budget;
    },
    untie(signal, slot) {
      const budgets = tied.get(signal);
      if (budgets !== undefined) budgets[slot] = null;
    },
  };
}
