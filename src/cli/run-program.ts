/** Handles signals, the end of the parent, and faults of the program's process. */

import { errorCodeOf, messageOf } from '../error.ts';
import type { Log } from '../log.ts';

export interface ProgramHandles {
  /** Stops the program in order; resolves when it has stopped. */
  stop(): Promise<void>;
  /** Reloads the catalogue and the reloadable settings. */
  reload(): Promise<void>;
}

/** Exit status after a fault that a restart may fix: EX_SOFTWARE of sysexits. */
export const EXIT_FAULT = 70;
/** Interval of looking whether the parent is still there, milliseconds. */
const PARENT_LOOK_MS = 1_000;
/** Timeout of a stop, so that the process ends within 15 s of the signal. */
const STOP_TIMEOUT_MS = 14_500;
/** npm, the terminal and the parent may each forward the same signal. Signals within this time count as one. */
const SAME_SIGNAL_MS = 400;

/** Logs the fault and ends the process at once; the parent restarts it. */
export function endByFault(log: Log, error: Error, message: string): never {
  log.error({ event: 'program_ended', problem: error.message, stack: error.stack }, message);
  // Nothing is flushed on purpose: the state after a fault is not reliable, and the stores survive a kill.
  process.exit(EXIT_FAULT);
}

/**
 * Ends a process whose start has failed: with status 1, after which it is not started again, except if another process
 * took the lease while this one was starting and stood still. It then starts again and stands by.
 */
export function endByFailedStart(log: Log, error: unknown): never {
  log.error({ problem: messageOf(error) }, 'Upbeat could not start');
  process.exit(errorCodeOf(error) === 'lease_lost' ? EXIT_FAULT : 1);
}

/**
 * Connects the process to the program: SIGTERM and SIGINT stop it, SIGHUP reloads it, and a second signal ends it at
 * once. A signal that arrives during the start is handled when the program has started. `isAlone`: no process forwards signals any more.
 */
export function joinProcess(program: Promise<ProgramHandles>, log: Log, isAlone: () => boolean): void {
  let askedAt: number | null = null;
  const stop = (why: string) => {
    const now = performance.now();
    if (askedAt !== null) {
      if (now - askedAt < SAME_SIGNAL_MS) return;
      log.warn({}, 'second signal; exiting at once');
      process.exit(1);
    }
    askedAt = now;
    log.info({ why }, 'stopping');
    setTimeout(() => {
      log.error({}, 'the stop timed out');
      process.exit(1);
    }, STOP_TIMEOUT_MS).unref();
    program
      .then((started) => started.stop())
      .then(
        () => {
          log.info({}, 'stopped');
          process.exit(0);
        },
        (error: Error) => endByFault(log, error, 'the stop failed'),
      );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGHUP', () => void program.then((started) => started.reload()));
  const look = setInterval(() => {
    if (!isAlone()) return;
    clearInterval(look);
    stop('the parent process has ended');
  }, PARENT_LOOK_MS).unref();
  process.on('uncaughtException', (error) => endByFault(log, error, 'uncaught exception'));
}
