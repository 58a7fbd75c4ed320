/** The registry in the thread that opens it, for commands: they do one thing and end, so a thread costs more than it frees. */
import type { RegistryOptions } from './open-registry.ts';
import { createRegistryClient, type RegistryClient } from './registry-client.ts';
import type { RegistryMethods, RegistryThreadData } from './registry-thread.ts';

/** Opens the registry, beside other processes that have it open. Rejects as `openRegistry` does. */
export async function openRegistryInProcess(
  options: Omit<RegistryOptions, 'onEnd'>,
): Promise<RegistryClient> {
  const { dataDir, log, clock, domainsPerAccount = 100, postgresUrl = null, secretKey = null } = options;
  const methods = await openMethods({ dataDir, domainsPerAccount, postgresUrl, secretKey });
  const named: Record<string, (...args: never[]) => unknown> = methods;
  return createRegistryClient({
    methods: Object.keys(methods),
    call: async (method, args) => named[method]?.(...args),
    clock,
    log,
    end: async () => {},
  });
}

/** Opens the database of a registry in this thread. The driver of each database is loaded only if it is used. */
export async function openMethods(data: RegistryThreadData): Promise<RegistryMethods> {
  const { postgresUrl = null } = data;
  if (postgresUrl === null) return await (await import('./registry-thread.ts')).openRegistryMethods(data);
  const { openPostgresMethods } = await import('./postgres/postgres-methods.ts');
  return await openPostgresMethods(postgresUrl, data);
}
