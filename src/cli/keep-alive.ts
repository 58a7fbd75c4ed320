/**
 * The small parent of the program: starts it again, with back-off, when it was aborted or ended by a fault.
 * A thread that runs out of memory in one huge allocation takes its whole process with it; this is what is left.
 */
import { spawn } from 'node:child_process';
import type { Clock } from '../clock.ts';
import type { ChildMemory } from './child-memory.ts';

/** Exit status with which the program says: a fault that a fresh start may mend. EX_SOFTWARE of sysexits. */
export const EXIT_FAULT = 70;

/** How a child ended: one of the two is set. */
export interface ChildEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What to do after a child has ended. */
export type NextStep =
  | { readonly kind: 'exit'; readonly code: number }
  | { readonly kind: 'restart'; readonly afterMs: number; readonly failures: number };

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** The program could not start, though it was told nothing wrong: a disk is full, a file is locked. */
const EXIT_NO_START = 1;
/** A life this long shows that the fault before it was a single one. */
const GOOD_LIFE_MS = 60_000;

/**
 * Decides: a clean end, wrong usage and a failed start end the parent too; everything else is started again. A program
 * that was at work is not given up because it cannot start at once: what ended it, such as a full disk, may last.
 * `failures` counts the faults in a row before this one.
 */
export function nextStep(
  end: ChildEnd,
  wasReady: boolean,
  livedMs: number,
  failures: number,
  stopping: boolean,
): NextStep {
  if (stopping || end.code === 0) return { kind: 'exit', code: end.code ?? 1 };
  const again = failures > 0 && end.code === EXIT_NO_START;
  const fault = end.signal !== null || end.code === EXIT_FAULT || wasReady || again;
  if (!fault) return { kind: 'exit', code: end.code ?? 1 };
  const inRow = livedMs >= GOOD_LIFE_MS ? 0 : failures;
  return {
    kind: 'restart',
    afterMs: Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** inRow),
    failures: inRow + 1,
  };
}

/**
 * Runs `entry` with `args` until it ends for good; resolves with the exit status for the parent. `memory`: how its
 * process is started; default: as this one was.
 */
export function keepAlive(
  entry: string,
  args: readonly string[],
  clock: Clock,
  memory: ChildMemory = { execArgv: [], env: {} },
): Promise<number> {
  return new Promise((resolve) => {
    let failures = 0;
    let stopping = false;
    let forward: (signal: NodeJS.Signals) => void = () => {};
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (signal !== 'SIGHUP') stopping = true;
        forward(signal);
      });
    }
    const start = () => {
      const bornAt = clock.monotonic();
      let ready = false;
      // The channel tells the child when the parent has gone, however it went.
      const child = spawn(process.execPath, [...memory.execArgv, entry, ...args], {
        env: { ...process.env, ...memory.env },
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      });
      child.on('message', (message) => {
        if (message === 'ready') ready = true;
      });
      forward = (signal) => void child.kill(signal);
      child.once('exit', (code, signal) => {
        const step = nextStep({ code, signal }, ready, clock.monotonic() - bornAt, failures, stopping);
        if (step.kind === 'exit') return resolve(step.code);
        failures = step.failures;
        console.error(
          `upbeat: ended by ${signal ?? `a fault (status ${code})`}; starting again in ${step.afterMs / 1000} s`,
        );
        const timer = setTimeout(start, step.afterMs);
        forward = (received) => {
          if (received === 'SIGHUP') return;
          clearTimeout(timer);
          resolve(0);
        };
      });
    };
    start();
  });
}
