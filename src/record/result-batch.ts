/** Tracks a batch of results on its way through the record. Each part holds the batch until it is committed. */

export interface ResultBatch {
  /** Adds a hold: another part is in progress. */
  hold(): void;
  /** Releases a hold. `isCommitted`: false if the part was dropped at stop. */
  release(isCommitted: boolean): void;
  /** Resolves when all parts have ended; false: at least one was dropped. */
  readonly ended: Promise<boolean>;
}

/** Creates a batch with one hold, which the caller must release. */
export function createResultBatch(): ResultBatch {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let parts = 1;
  let isWhole = true;
  return {
    ended: promise,
    hold(): void {
      parts += 1;
    },
    release(isCommitted): void {
      isWhole &&= isCommitted;
      parts -= 1;
      if (parts === 0) resolve(isWhole);
    },
  };
}
