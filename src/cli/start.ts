/** `upbeat start`. */
import { tmpdir, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { loadCatalogue } from '../catalogue/watch-catalogue.ts';
import { systemClock } from '../clock.ts';
import { findWarnings } from '../config/cross-check.ts';
import { openCompileCache, planMemory } from './child-memory.ts';
import type { CommonOptions } from './command.ts';
import { keepAlive } from './keep-alive.ts';
import { readConfig } from './open-stores.ts';
import { printNote, printText } from './output.ts';
import { isRunByNpx, watchShell } from './shell-watch.ts';

/** Checks the configuration, then runs the program under its parent; ends the process with its status. */
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
  if (isRunByNpx(process.env)) {
    const stop = () => void process.kill(process.pid, 'SIGTERM');
    watchShell(systemClock, () => process.ppid, stop);
  }
  const program = fileURLToPath(new URL('../main.ts', import.meta.url));
  const memory = planMemory(process.env, availableBytes(), openCompileCache(tmpdir()));
  process.exit(await keepAlive(program, ['--config', config], systemClock, memory));
}

/** What this process and those that it starts may use: the limit of their container, or what the machine has. */
function availableBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
