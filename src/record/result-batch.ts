/** A batch of results on its way through the record, which is held by each of its parts until that is committed. */

/** The batch. */
export interface ResultBatch {
  /** Another part of it is in progress. */
  hold(): void;
  /** A part has ended; `isCommitted`: false if it was given up at stop. */
  release(isCommitted: boolean): void;
  /** Resolves when all parts have ended; false: one was given up. */
  readonly ended: Promise<boolean>;
}

/** Makes a batch that its maker holds. */
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
