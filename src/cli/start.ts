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
const SHELL = '/bin/sh';

/**
 * Becomes the parent of the program (`keep-alive.sh`), under the same process id, which frees what it has loaded. The
 * program reads the configuration.
 */
export async function start({
  config,
  checkConfig = false,
}: CommonOptions & { checkConfig?: boolean }): Promise<void> {
  if (checkConfig) return await check(config);
  const { command, env } = planParent(config, process.env);
  // Node.js writes the cache when a process ends, but this process is replaced by another program.
  flushCompileCache();
  if (existsSync(SHELL)) process.execve?.(SHELL, command, env);
  // Without a parent, whatever ends the program ends this process.
  process.argv.splice(2, process.argv.length, `--config=${config}`);
  await import('./program.ts');
}

/** Returns the command of the parent and its environment. `env`: that of this process. */
export function planParent(config: string, env: NodeJS.ProcessEnv) {
  const plan = planMemory(env, true, openCompileCache(tmpdir()));
  const { entry, prepare } = planBundle();
  const [bundler = '', bundle = ''] = prepare ?? [];
  const options = [
    ...(availableBytes() < SMALL_BYTES ? [] : ['--small-heaps']),
    ...(isRunByNpx(env) ? ['--shell', String(process.ppid)] : []),
  ].join(' ');
  return {
    command: [
      SHELL,
      pathOf('./keep-alive.sh'),
      ...[entry, pathOf('./program.ts'), bundler, bundle, config, options],
      ...[process.execPath, ...plan.execArgv],
    ],
    env: { ...env, ...plan.env },
  };
}

/**
 * Returns true if npx has started this very command, which it does by a shell: that takes the signals that are meant for the program, and
 * passes none on. `env`: the environment of the process.
 */
export function isRunByNpx(env: NodeJS.ProcessEnv): boolean {
  return env.npm_lifecycle_event === 'npx' && /^["']?upbeat\b/.test(env.npm_lifecycle_script ?? '');
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
