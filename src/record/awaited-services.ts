/** Heartbeats that wait for the feed of changes to tell of their service. */
import type { ServiceChange } from '../store/ports/registry.ts';

/** Who waits for which service. */
export interface AwaitedServices {
  /** Resolves when a change of the service has been told that is at least this revision. */
  wait(serviceId: number, revision: number): Promise<void>;
  /** A change was applied. */
  tell(change: ServiceChange): void;
}

/** Nobody waits yet. */
export function createAwaitedServices(): AwaitedServices {
  let awaited: { readonly id: number; readonly revision: number; readonly resolve: () => void }[] = [];
  return {
    wait: (id, revision) => new Promise((resolve) => awaited.push({ id, revision, resolve })),
    tell({ serviceId, service }) {
      if (awaited.length === 0) return;
      const heard = awaited.filter(
        ({ id, revision }) => id === serviceId && (service?.revision ?? 0) >= revision,
      );
      awaited = awaited.filter((one) => !heard.includes(one));
      for (const { resolve } of heard) resolve();
    },
  };
}
