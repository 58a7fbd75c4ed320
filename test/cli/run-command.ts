/** Runs `upbeat` in this process, which spares a start of Node.js for each of dozens of commands. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { buildCommands } from '../../src/cli/commands.ts';

/** What a command left behind. */
export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

class Exit extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`exit ${status}`);
    this.status = status;
  }
}

/** What the command has written whose output this is; undefined: others write. */
const written = new AsyncLocalStorage<{ stdout: string; stderr: string }>();
let lastCommand: Promise<unknown> = Promise.resolve();

/** Runs a command to its end, after those before it. Other tests of the process may go on and print meanwhile. */
export function runCommandHere(args: readonly string[]): Promise<CommandResult> {
  const result = lastCommand.then(() => runAlone(args));
  lastCommand = result.catch(() => {});
  return result;
}

async function runAlone(args: readonly string[]): Promise<CommandResult> {
  const output = { stdout: '', stderr: '' };
  const { exit } = process;
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  const capture = (name: 'stdout' | 'stderr') => {
    const write = writes[name].bind(process[name]);
    process[name].write = ((chunk: string | Uint8Array, ...rest: []) => {
      const own = written.getStore();
      if (own === undefined) return write(chunk, ...rest);
      own[name] += Buffer.from(chunk as Uint8Array).toString();
      return true;
    }) as typeof process.stdout.write;
  };
  capture('stdout');
  capture('stderr');
  // What is captured is no terminal, also where a person runs the test on one.
  const { isTTY } = process.stdout;
  process.stdout.isTTY = false;
  process.exit = ((status: number) => {
    throw new Exit(status);
  }) as typeof process.exit;
  // A command that opens a data directory keeps its files to itself from then on.
  const umask = process.umask(0o022);
  process.umask(umask);
  let status = 0;
  try {
    await written.run(output, () => buildCommands().parseAsync(args, { from: 'user' }));
    status = Number(process.exitCode ?? 0);
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
    status = error.status;
  } finally {
    process.exit = exit;
    process.exitCode = 0;
    process.umask(umask);
    process.stdout.isTTY = isTTY;
    process.stdout.write = writes.stdout;
    process.stderr.write = writes.stderr;
  }
  return { status, ...output };
}
