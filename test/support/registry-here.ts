/** The registry without its thread: its client over methods in this thread. */
import type { Clock } from '../../src/clock.ts';
import { silentLog } from '../../src/log.ts';
import { createRegistryClient, type SqliteRegistry } from '../../src/store/registry/registry-client.ts';
import type { RegistryMethods } from '../../src/store/registry/registry-thread.ts';

/** Makes the client. Arguments and results are copied, as between threads. */
export function registryHere(methods: RegistryMethods, clock: Clock): SqliteRegistry {
  const named: Record<string, (...args: never[]) => unknown> = methods;
  return createRegistryClient({
    methods: Object.keys(methods),
    call: async (method, args) => structuredClone(await named[method]?.(...structuredClone(args))),
    clock,
    log: silentLog,
    end: async () => {},
  });
}
