/**
 * The process of the program. `upbeat start` runs it as a child of `keep-alive.sh`; `node src/cli/program.ts --config FILE`
 * runs it without that parent. It reads the configuration before it loads the parts of the program, so that mistakes are
 * reported at once, and a large fleet is known while nothing has begun.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../config/load-config.ts';
import { announceStart } from '../thread/compiled-code.cjs';
import { boundHeaps, collectLater, freeThreads } from '../thread/v8-options.ts';
import { isSmallFleet, planLargeHeaps } from './child-memory.ts';
import { endByError } from './command.ts';
import { estimateServices } from './fleet-size.ts';

/** After this time the start counts as over: threads have made what it takes them to check and to answer, and keep their code. */
const START_OVER_MS = 1_000;
/** They keep it for the options of V8 that they began with, so heaps are bounded later. */
const HEAPS_BOUND_MS = 3_000;

/** Ends the process with status 2 and all problems of the configuration, if it has any. */
function readOrEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return endByError(error);
  }
}

async function run(): Promise<void> {
  freeThreads();
  const { values } = parseArgs({
    options: {
      config: { type: 'string' },
      // It may start again with large heaps.
      'small-heaps': { type: 'boolean', default: false },
      // The process ids of the parent, and of a shell before that, with which it ends.
      parent: { type: 'string' },
      shell: { type: 'string' },
    },
  });
  const read = () => loadConfig({ file: values.config ?? 'config/upbeat.yaml', env: process.env });
  const config = readOrEnd(read);
  if (values['small-heaps'] && !isSmallFleet(await estimateServices(config), config.checks.intervalMs))
    growHeaps();

  const { createLog } = await import('../log.ts');
  const { startProgram } = await import('../main.ts');
  const { operatorChannels } = await import('../main/operator-channels.ts');
  const { CHANNEL_KINDS_TABLE } = await import('../notify/channels/kinds-table.ts');
  const { endByFailedStart, joinProcess } = await import('./run-program.ts');

  readOrEnd(() => operatorChannels(config, CHANNEL_KINDS_TABLE));
  const log = createLog(config.log);
  try {
    const program = startProgram(config, read, log);
    joinProcess(program, log, () => isAlone(values.parent, values.shell));
    await program;
    setTimeout(announceStart, START_OVER_MS).unref();
    setTimeout(() => boundHeaps(process.env.NODE_OPTIONS), HEAPS_BOUND_MS).unref();
    collectLater();
  } catch (error) {
    endByFailedStart(log, error);
  }
}

/** Becomes the same program with large heaps, under the same process id. */
function growHeaps(): void {
  const { execArgv, env } = planLargeHeaps(process.env);
  const args = process.argv.slice(1).filter((arg) => arg !== '--small-heaps');
  process.execve?.(process.execPath, [process.execPath, ...execArgv, ...args], env);
}

/** Returns true if the process with which this one ends has ended. */
function isAlone(parent = String(process.ppid), shell?: string): boolean {
  if (process.ppid !== Number(parent)) return true;
  try {
    return shell !== undefined && !process.kill(Number(shell), 0);
  } catch {
    return true;
  }
}

void run();
