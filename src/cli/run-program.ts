/** The life of the program's process: signals, the parent's end, faults. */
import type { Log } from '../log.ts';
import { EXIT_FAULT } from './keep-alive.mjs';

/** What the process does with the program. */
export interface ProgramHandles {
  /** Stops in order; resolves when nothing is left to do. */
  stop(): Promise<void>;
  /** Reads the configuration's reloadable part and the catalogue again. */
  reload(): Promise<void>;
}

/** A stop that takes longer is broken off, so that the process ends within 15 s of the signal. */
const STOP_TIMEOUT_MS = 14_500;
/** npm, the terminal and the parent may each pass one signal on: what follows this closely is the same one. */
const SAME_SIGNAL_MS = 400;

/** Ends the process at once, with the fault's story in the log; the parent starts it again. */
export function endByFault(log: Log, error: Error, message: string): never {
  log.error({ problem: error.message, stack: error.stack }, message);
  // Nothing is flushed on purpose: state after a fault is not to be trusted, and the stores survive a kill.
  process.exit(EXIT_FAULT);
}

/**
 * Joins the process to the program: SIGTERM and SIGINT stop it, SIGHUP reloads, a second signal ends at once. A signal
 * that comes while the program still starts is obeyed when it has started.
 */
export function joinProcess(program: Promise<ProgramHandles>, log: Log): void {
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
  // The parent has ended, so no process passes signals on any more.
  process.on('disconnect', () => stop('the parent process has ended'));
  process.on('uncaughtException', (error) => endByFault(log, error, 'uncaught exception'));
}
