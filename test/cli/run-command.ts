/** Runs `upbeat` in this process, which spares a start of Node.js for each of dozens of commands. One at a time. */
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

/** Runs a command to its end. */
export async function runCommandHere(args: readonly string[]): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' };
  const { exit } = process;
  const writes = { stdout: process.stdout.write, stderr: process.stderr.write };
  const capture = (name: 'stdout' | 'stderr') => {
    process[name].write = ((chunk: string | Uint8Array) => {
      written[name] += Buffer.from(chunk as Uint8Array).toString();
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
    await buildCommands().parseAsync(args, { from: 'user' });
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
  return { status, ...written };
}
