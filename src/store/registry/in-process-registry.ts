/** The registry in the thread that opens it, for commands: they do one thing and end, so a thread costs more than it frees. */
import { createRegistryClient, type SqliteRegistry } from './registry-client.ts';
import { openRegistryMethods } from './registry-thread.ts';
import type { RegistryOptions } from './sqlite-registry.ts';

/** Opens the registry of a data directory, beside other processes that have it open. Rejects as `openRegistry` does. */
export async function openRegistryInProcess(
  options: Omit<RegistryOptions, 'onEnd'>,
): Promise<SqliteRegistry> {
  const { dataDir, log, clock, domainsPerAccount = 100, secretKey = null } = options;
  const methods = await openRegistryMethods({ dataDir, domainsPerAccount, secretKey });
  const named: Record<string, (...args: never[]) => unknown> = methods;
  return createRegistryClient({
    methods: Object.keys(methods),
    call: async (method, args) => named[method]?.(...args),
    clock,
    log,
    end: async () => {},
  });
}
