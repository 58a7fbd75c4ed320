/**
 * The process of the program. `upbeat start` runs it as a child of `keep-alive.mjs`; `node src/cli/program.ts --config FILE`
 * runs it without that parent. It reads the configuration before it loads the parts of the program, so that mistakes are
 * reported at once, and a large fleet is known while nothing has begun.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../config/load-config.ts';
import { announceStart } from '../thread/compiled-code.cjs';
import { boundHeapGrowth } from '../thread/v8-options.ts';
import { isSmallFleet } from './child-memory.ts';
import { endByError } from './command.ts';
import { estimateServices } from './fleet-size.ts';
import { EXIT_LARGE_FLEET } from './keep-alive.mjs';

/** After this time the start counts as over: threads have made what it takes them to check and to answer, and keep their code. */
const START_OVER_MS = 1_000;
/** They keep it for the options of V8 that they began with, so the growth of heaps is bounded later. */
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
  const { values } = parseArgs({
    options: { config: { type: 'string' }, 'small-heaps': { type: 'boolean', default: false } },
  });
  const read = () => loadConfig({ file: values.config ?? 'config/upbeat.yaml', env: process.env });
  const config = readOrEnd(read);
  if (values['small-heaps'] && !isSmallFleet(await estimateServices(config), config.checks.intervalMs))
    process.exit(EXIT_LARGE_FLEET);

  const { createLog } = await import('../log.ts');
  const { startProgram } = await import('../main.ts');
  const { operatorChannels } = await import('../main/operator-channels.ts');
  const { CHANNEL_KINDS_TABLE } = await import('../notify/channels/kinds-table.ts');
  const { endByFailedStart, joinProcess } = await import('./run-program.ts');

  readOrEnd(() => operatorChannels(config, CHANNEL_KINDS_TABLE));
  const log = createLog(config.log);
  try {
    const program = startProgram(config, read, log);
    joinProcess(program, log);
    await program;
    process.send?.('ready');
    setTimeout(announceStart, START_OVER_MS).unref();
    setTimeout(() => boundHeapGrowth(process.env.NODE_OPTIONS), HEAPS_BOUND_MS).unref();
  } catch (error) {
    endByFailedStart(log, error);
  }
}

void run();
