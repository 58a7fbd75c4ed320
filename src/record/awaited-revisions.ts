/** Heartbeats that wait until the feed of changes has delivered the revision of their service. */
import type { Clock } from '../clock.ts';
import type { ServiceChange } from '../store/ports/services.ts';

/** The waiting heartbeats. */
export interface AwaitedRevisions {
  /**
   * Resolves when a change has delivered this revision of the service, a later one, or its removal. Resolves after five
   * seconds in any case, since a removal that was delivered before is not delivered again.
   */
  wait(serviceId: number, revision: number): Promise<void>;
  /** A change was applied. */
  notify(change: ServiceChange): void;
}

interface Waiter {
  readonly id: number;
  readonly revision: number;
  readonly resolve: () => void;
}

const WAIT_TIMEOUT_MS = 5_000;

/** Makes an empty list. */
export function createAwaitedRevisions(clock: Pick<Clock, 'after'>): AwaitedRevisions {
  const waiters = new Set<Waiter>();
  return {
    wait: (id, revision) =>
      new Promise((resolve) => {
        const cancel = clock.after(WAIT_TIMEOUT_MS, () => {
          waiters.delete(waiter);
          resolve();
        });
        const waiter: Waiter = {
          id,
          revision,
          resolve() {
            cancel();
            resolve();
          },
        };
        waiters.add(waiter);
      }),
    notify({ serviceId, service }) {
      for (const waiter of waiters) {
        if (waiter.id !== serviceId || (service !== null && service.revision < waiter.revision)) continue;
        waiters.delete(waiter);
        waiter.resolve();
      }
    },
  };
}
