/** `upbeat start`. */
import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { tmpdir, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/resolve-config.ts';
import { planMemory, SMALL_BYTES } from './child-memory.ts';
import type { CommonOptions } from './command.ts';
import { openCompileCache } from './compile-cache.mjs';
import { printNote, printText } from './output.ts';
import { planBundle } from './program-bundle.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));
/** The program of the parent. */
export const KEEP_ALIVE = pathOf('./keep-alive.mjs');

/**
 * Becomes the parent of the program (`keep-alive.mjs`), under the same process id, which frees what it has loaded. The
 * program reads the configuration.
 */
export async function start({
  config,
  checkConfig = false,
}: CommonOptions & { checkConfig?: boolean }): Promise<void> {
  if (checkConfig) return await check(config);
  const order = planOrder(config, process.env);
  const command = [process.execPath, KEEP_ALIVE, JSON.stringify(order)];
  // Node.js writes the cache when a process ends, but this process is replaced by another program.
  flushCompileCache();
  process.execve?.(process.execPath, command, process.env);
  // Windows has no such call, so this process stays as the parent.
  const { keepAlive } = await import('./keep-alive.mjs');
  process.exit(await keepAlive(order));
}

/** Returns what the parent runs for a file of configuration. `env`: the environment of the parent. */
export function planOrder(config: string, env: NodeJS.ProcessEnv) {
  const cache = openCompileCache(tmpdir());
  const small = planMemory(env, true, cache);
  const bundle = planBundle();
  return {
    entries: [bundle.entry, pathOf('./program.ts')],
    args: ['--config', config],
    plans: availableBytes() < SMALL_BYTES ? [small] : [small, planMemory(env, false, cache)],
    prepare: bundle.prepare,
  };
}

/** Prints every problem of the configuration and its catalogue, or that there is none. */
async function check(file: string): Promise<void> {
  const config = await readConfig(file);
  const { CatalogueError } = await import('../catalogue/read-catalogue.ts');
  const { loadCatalogue } = await import('../catalogue/watch-catalogue.ts');
  const { findWarnings } = await import('../config/resolve-config.ts');
  const { operatorChannels } = await import('../main/operator-channels.ts');
  const { CHANNEL_KINDS_TABLE } = await import('../notify/channels/kinds-table.ts');
  operatorChannels(config, CHANNEL_KINDS_TABLE);
  const { services } = await loadCatalogue(config.catalogue.file);
  for (const { slug, check } of services)
    if (check.caFile !== null && !existsSync(check.caFile))
      throw new CatalogueError([
        `${config.catalogue.file}: ${slug}: check.caFile ${check.caFile} is not there`,
      ]);
  printText(`${file}: no problems; ${services.length} services in ${config.catalogue.file}`);
  for (const { path, message } of findWarnings(config)) printNote(`warning: ${path} ${message}`);
}

async function readConfig(file: string): Promise<Config> {
  const { loadConfig } = await import('../config/load-config.ts');
  return loadConfig({ file, env: process.env });
}

/**
 * The memory that this process and its children may use: the limit of their container, or the memory of the machine.
 */
function availableBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
