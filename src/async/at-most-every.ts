/** Paces what must not be repeated too often, such as a line of the log. */

/** Creates the function that says whether it may happen now: at most once in `intervalMs` of `monotonic`, milliseconds. */
export function atMostEvery(intervalMs: number, monotonic: () => number): () => boolean {
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    const now = monotonic();
    if (now < until) return false;
    until = now + intervalMs;
    return true;
  };
}
