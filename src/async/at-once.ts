/**
 * Values that are mostly at hand. Each `await` costs a turn of the microtasks, also of a value; these functions cost it only where there
 * is a promise.
 */

export type MaybeLater<Value> = Value | Promise<Value>;

/** Calls `next` with the value: at once if it is at hand, so that what `next` throws is thrown here, otherwise when it comes. */
export function andThen<Value, Next>(
  value: MaybeLater<Value>,
  next: (value: Value) => MaybeLater<Next>,
): MaybeLater<Next> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/**
 * Calls `done` with what `make` returns, or `failed` with what it throws or rejects with, as `promise.then(done, failed)` does: what `done`
 * throws is not for `failed`.
 */
export function attempt<Value, Next>(
  make: () => MaybeLater<Value>,
  done: (value: Value) => MaybeLater<Next>,
  failed: (thrown: unknown) => MaybeLater<Next>,
): MaybeLater<Next> {
  let value: MaybeLater<Value>;
  try {
    value = make();
  } catch (thrown) {
    return failed(thrown);
  }
  return value instanceof Promise ? value.then(done, failed) : done(value);
}
