/** Joins calls that are made while others wait for their answers into one. */

/** The limits of joining calls. */
export interface JoinLimits {
  /** Maximum number of joint calls that wait for their answers. */
  readonly maxAtOnce: number;
  /** Maximum number of items of a joint call. */
  readonly maxItems: number;
}

/**
 * Returns a function that makes a call for one item. Up to `maxAtOnce` calls are made at once; items that come meanwhile wait, and are
 * made together as soon as one of them has ended. `run` resolves with the values in the order of the items; if it rejects, so does
 * each of them.
 */
export function joinCalls<Item, T>(
  run: (items: readonly Item[]) => Promise<readonly T[]>,
  { maxAtOnce, maxItems }: JoinLimits,
): (item: Item) => Promise<T> {
  const waiting: { readonly item: Item; readonly call: PromiseWithResolvers<T> }[] = [];
  let running = 0;

  const runNext = async (): Promise<void> => {
    running += 1;
    while (waiting.length > 0) {
      const taken = waiting.splice(0, maxItems);
      try {
        const values = await run(taken.map(({ item }) => item));
        for (const [index, { call }] of taken.entries()) call.resolve(values[index] as T);
      } catch (error) {
        for (const { call } of taken) call.reject(error);
      }
    }
    running -= 1;
  };

  return (item) => {
    const call = Promise.withResolvers<T>();
    waiting.push({ item, call });
    if (running < maxAtOnce) void runNext();
    return call.promise;
  };
}
