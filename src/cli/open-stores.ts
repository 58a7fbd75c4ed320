/** Opens the configuration and the registry for commands, while the program may be running. */
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Config } from '../config/resolve-config.ts';
import { silentLog } from '../log.ts';
import type { ServiceStateStore } from '../store/ports/services.ts';
import { openRegistryInProcess } from '../store/registry/open-registry.ts';
import type { RegistryClient } from '../store/registry/registry-client.ts';
import { makeFilesPrivate } from '../store/sqlite/private-files.ts';

/** Reads the configuration of a command. Throws ConfigError. */
export function readConfig(file: string): Config {
  return loadConfig({ file, env: process.env });
}

/** Finds live services by their current slugs, and by their ids. */
export async function serviceFinders(registry: ServiceStateStore) {
  const services = (await registry.loadServices()).map(({ service }) => service);
  const bySlug = new Map(services.map((service) => [service.slug, service]));
  const byId = new Map(services.map((service) => [service.id, service]));
  return {
    findService: (slug: string) => bySlug.get(slug) ?? null,
    findServiceById: (id: number) => byId.get(id) ?? null,
  };
}

/**
 * Opens the registry, runs `work`, and always closes the registry. `alone`: no other process may have it open, in a file;
 * `secretKey`: another one than the setting `secrets.key`.
 */
export async function withRegistry<T>(
  configFile: string,
  work: (registry: RegistryClient, config: Config) => Promise<T>,
  { alone = false, secretKey }: { readonly alone?: boolean; readonly secretKey?: string | undefined } = {},
): Promise<T> {
  const config = readConfig(configFile);
  makeFilesPrivate();
  const registry = await openRegistryInProcess({
    dataDir: config.storage.dataDir,
    postgresUrl: config.storage.postgres.url,
    secretKey: secretKey ?? config.secrets.key,
    checksKey: config.secrets.checksKey,
    alone,
    log: silentLog,
    clock: systemClock,
    // The limit applies to owners, and the command line acts for the operator.
    domainsPerAccount: Number.POSITIVE_INFINITY,
  });
  try {
    return await work(registry, config);
  } finally {
    await registry.close();
  }
}
