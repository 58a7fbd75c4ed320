/** At most one request at a time at each host, and a bounded number over all hosts. */

/** Gives out turns. */
export interface HostTurns {
  /**
   * Runs `task` when it is its turn; first come, first served. One that goes on with what an earlier task began
   * (`isContinued`) comes before all that wait, so that the results of few are in memory at a time.
   */
  inTurn<T>(host: string, task: () => Promise<T>, isContinued?: boolean): Promise<T>;
}

/** Makes turns for at most `most` tasks at a time. */
export function createHostTurns(most: number): HostTurns {
  const waiting: { readonly host: string; readonly run: () => Promise<void> }[] = [];
  const busy = new Set<string>();
  const startNext = (): void => {
    while (busy.size < most) {
      const index = waiting.findIndex(({ host }) => !busy.has(host));
      const [next] = index === -1 ? [] : waiting.splice(index, 1);
      if (next === undefined) return;
      busy.add(next.host);
      void next.run().finally(() => {
        busy.delete(next.host);
        startNext();
      });
    }
  };
  return {
    inTurn(host, task, isContinued = false) {
      return new Promise((resolve, reject) => {
        const next = { host, run: () => task().then(resolve, reject) };
        if (isContinued) waiting.unshift(next);
        else waiting.push(next);
        startNext();
      });
    },
  };
}
