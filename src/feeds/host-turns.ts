/** At most one request at a time at each host, and a bounded number over all hosts. */

/** Gives out turns. */
export interface HostTurns {
  /** Runs `task` when it is its turn; first come, first served at each host. */
  inTurn<T>(host: string, task: () => Promise<T>): Promise<T>;
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
    inTurn(host, task) {
      return new Promise((resolve, reject) => {
        waiting.push({ host, run: () => task().then(resolve, reject) });
        startNext();
      });
    },
  };
}
