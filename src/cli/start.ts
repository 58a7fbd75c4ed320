/** `upbeat start`. */
import { tmpdir, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { findWarnings } from '../config/resolve-config.ts';
import { openCompileCache, planCompilation, planMemory } from './child-memory.ts';
import type { CommonOptions } from './command.ts';
import { readConfig } from './open-stores.ts';
import { printNote, printText } from './output.ts';

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Checks the configuration, then becomes the parent of the program (`keep-alive.mjs`), under the same process id. */
export async function start({
  config,
  checkConfig = false,
}: CommonOptions & { checkConfig?: boolean }): Promise<void> {
  const read = readConfig(config);
  if (checkConfig) {
    const { services } = await loadCatalogue(read.catalogue.file);
    printText(`${config}: no problems; ${services.length} services in ${read.catalogue.file}`);
    for (const { path, message } of findWarnings(read)) printNote(`warning: ${path} ${message}`);
    return;
  }
  const { execArgv, env } = planMemory(process.env, availableBytes(), openCompileCache(tmpdir()));
  const whole = { ...process.env, ...env };
  const order = {
    entry: pathOf('../main.ts'),
    args: ['--config', config],
    execArgv,
    prepare: planCompilation(whole, execArgv),
  };
  const command = [process.execPath, pathOf('keep-alive.mjs'), JSON.stringify(order)];
  process.execve?.(process.execPath, command, whole);
  // Windows has no such call: this process stays between.
  Object.assign(process.env, env);
  const { keepAlive } = await import('./keep-alive.mjs');
  process.exit(await keepAlive(order));
}

/** What this process and those that it starts may use: the limit of their container, or what the machine has. */
function availableBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
