/**
 * The process of the program. `upbeat start` runs it as a child of `keep-alive.mjs`; `node src/cli/program.ts --config FILE`
 * runs it without that parent. It reads the configuration before it loads the parts of the program, so that mistakes are
 * reported at once, and a large fleet is known while nothing has begun.
 */
import { parseArgs } from 'node:util';
import { loadConfig } from '../config/load-config.ts';
import { isSmallFleet } from './child-memory.ts';
import { endByError } from './command.ts';
import { estimateServices } from './fleet-size.ts';
import { EXIT_LARGE_FLEET } from './keep-alive.mjs';

/** Ends the process with status 2 and all problems of the configuration, if it has any. */
function readOrEnd<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    return endByError(error);
  }
}

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
} catch (error) {
  endByFailedStart(log, error);
}
