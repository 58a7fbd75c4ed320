/** Stops a process again and again, as a busy hypervisor or a throttled container does. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** A process that is being stopped. */
export interface Stalling {
  /** Times that it has been stopped so far. */
  readonly count: () => number;
  /** Lets it run from now on. */
  end(): Promise<void>;
}

/**
 * Stops process `pid` (SIGSTOP) for `stoppedMs`, lets it run for `runsMs`, and so on. By a process of its own, so that a
 * test that is busy, or killed, leaves it stopped no longer.
 */
export function stallProcess(pid: number, stoppedMs: number, runsMs: number): Stalling {
  const script = `
    while kill -0 "$2" 2>&- && kill -STOP "$1"; do
      sleep ${stoppedMs / 1_000}; kill -CONT "$1"; echo; sleep ${runsMs / 1_000}
    done 2>&-; kill -CONT "$1" 2>&-`;
  const child = spawn('sh', ['-c', script, 'stall', String(pid), String(process.pid)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let count = 0;
  child.stdout.on('data', (lines: Buffer) => {
    count += lines.length;
  });
  return {
    count: () => count,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      process.kill(pid, 'SIGCONT');
    },
  };
}

/** The process that does the work: the child of the one that keeps it alive (src/cli/keep-alive.sh). */
export function workerOf({ pid }: ChildProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const [worker] = children.map(Number);
  if (worker === undefined || !(worker > 0)) throw new Error(`process ${pid} has no child`);
  return worker;
}
