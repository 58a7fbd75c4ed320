/** The methods of the registry's thread that are the same whatever database it is in. */
import type { LeaseRequest } from '../ports/lease.ts';
import { ensureInstallation, readInstallation } from './fact-rows.ts';
import { type HeldLease, releaseLease, takeLease, touchLease } from './held-lease.ts';
import type { DomainLimits } from './owner-services.ts';
import { type Methods, type OpenRegistry, REGISTRY_CALLS } from './registry-calls.ts';
import type { RegistryStore } from './registry-store.ts';
import type { Secrets } from './secret-box.ts';

/** An open database, and how work gets to it. */
export interface RegistryParts {
  readonly limits: DomainLimits;
  readonly secrets: Secrets;
  readonly lease: HeldLease;
  /** Runs work that only reads, and sees committed data alone. */
  readonly read: <T>(work: (store: RegistryStore) => Promise<T>) => Promise<T>;
  /** Runs work inside a transaction, and resolves after the commit. */
  readonly write: <T>(work: (store: RegistryStore) => Promise<T>) => Promise<T>;
}

/** Makes the methods. */
export function createRegistryMethods({ limits, secrets, lease, read, write }: RegistryParts) {
  const calls = Object.entries(REGISTRY_CALLS).map(([name, { kind, run }]) => {
    const serve: (registry: OpenRegistry, ...args: never[]) => Promise<unknown> = run;
    const through = kind === 'read' ? read : write;
    return [
      name,
      (...args: never[]) => through((store) => serve(openRegistry(store, limits, secrets), ...args)),
    ];
  });
  const methods: Methods<typeof REGISTRY_CALLS> = Object.fromEntries(calls);
  return {
    ...methods,
    sealSecrets: () => write((store) => secrets.sealClear(store)),
    installation: async () => (await read(readInstallation)) ?? (await write(ensureInstallation)),
    readLease: () => read(() => lease.read()),
    takeLease: async (request: LeaseRequest) => {
      const fence = await write((store) => takeLease(store, request));
      if (fence !== null) lease.hold(request, fence);
      return fence;
    },
    claimLease: (request: LeaseRequest) => read(() => lease.claim(request)),
    markLease: (fence: number, now: number) => read(() => lease.mark(fence, now)),
    releaseLease: async (fence: number) => {
      await write((store) => releaseLease(store, fence));
      lease.drop();
    },
    /** Resolves when the database takes a write. */
    tryWriting: () => write(touchLease),
  };
}

function openRegistry(store: RegistryStore, limits: DomainLimits, secrets: Secrets): OpenRegistry {
  const { queries, nested, each } = store;
  return { kysely: store.kysely, queries, nested, each, limits, secrets };
}
