/** Heartbeats that wait for the feed of changes to tell of their service. */
import type { Clock } from '../clock.ts';
import type { ServiceChange } from '../store/ports/services.ts';

/** Who waits for which service. */
export interface AwaitedServices {
  /**
   * Resolves when a change of the service has been told that is at least this revision, or its removal; after five
   * seconds in any case, for a removal that was told before is not told again.
   */
  wait(serviceId: number, revision: number): Promise<void>;
  /** A change was applied. */
  tell(change: ServiceChange): void;
}

const MAX_WAIT_MS = 5_000;

/** Nobody waits yet. */
export function createAwaitedServices(clock: Pick<Clock, 'after'>): AwaitedServices {
  let awaited: { readonly id: number; readonly revision: number; readonly resolve: () => void }[] = [];
  return {
    wait: (id, revision) =>
      new Promise((resolve) => {
        const cancel = clock.after(MAX_WAIT_MS, () => {
          awaited = awaited.filter((one) => one !== waiter);
          resolve();
        });
        const waiter = {
          id,
          revision,
          resolve() {
            cancel();
            resolve();
          },
        };
        awaited.push(waiter);
      }),
    tell({ serviceId, service }) {
      if (awaited.length === 0) return;
      const heard = awaited.filter(
        ({ id, revision }) => id === serviceId && (service === null || service.revision >= revision),
      );
      awaited = awaited.filter((one) => !heard.includes(one));
      for (const { resolve } of heard) resolve();
    },
  };
}
