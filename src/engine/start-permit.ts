/**
 * Until when hosts may start attempts: one time that all threads of a process see at once, for a process that may lose the
 * right to check while it is suspended. Times are nanoseconds of `process.hrtime`, which is the same in all threads.
 */

export interface StartPermit {
  /** For {@link readStartPermit} in the threads. */
  readonly shared: SharedArrayBuffer;
  /** Attempts may be started until `untilNs`, in place of what was set before. */
  set(untilNs: bigint): void;
  /** No attempt may be started from now on. */
  revoke(): void;
}

export function createStartPermit(): StartPermit {
  const shared = new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT);
  const until = new BigInt64Array(shared);
  return {
    shared,
    set: (untilNs) => void Atomics.store(until, 0, untilNs),
    revoke: () => void Atomics.store(until, 0, 0n),
  };
}

/** Tells whether an attempt may be started now; without a permit always. */
export function readStartPermit(
  shared: SharedArrayBuffer | undefined,
  nowNs: () => bigint = process.hrtime.bigint,
): () => boolean {
  if (shared === undefined) return () => true;
  const until = new BigInt64Array(shared);
  return () => nowNs() < Atomics.load(until, 0);
}
