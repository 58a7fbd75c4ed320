/** The registry without its thread: its client over methods in this thread. */
import { type Clock, systemClock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { openRegistryInProcess } from '../../src/store/registry/open-registry.ts';
import { createRegistryClient, type RegistryClient } from '../../src/store/registry/registry-client.ts';
import { WRITING_METHODS } from '../../src/store/registry/registry-methods.ts';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';

/** Makes the client. Arguments and results are copied, as between threads. */
export function registryHere(methods: RegistryMethods, clock: Clock): RegistryClient {
  const named: Record<string, (...args: never[]) => unknown> = methods;
  return createRegistryClient({
    methods: Object.keys(methods),
    writes: WRITING_METHODS,
    // Tests write by statements of their own, too.
    isShared: true,
    call: async (method, args) => structuredClone(await named[method]?.(...structuredClone(args))),
    clock,
    log: silentLog,
    end: async () => {},
  });
}

/** Opens the registry of a data directory in this thread, beside the processes that have it open. */
export function openRegistryHere(dataDir: string): Promise<RegistryClient> {
  return openRegistryInProcess({ dataDir, log: silentLog, clock: systemClock });
}
