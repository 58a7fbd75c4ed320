/**
 * The parent of the program: starts it again, with back-off, when it was aborted or ended by a fault. A thread that runs
 * out of memory in one huge allocation takes its whole process with it; this process is what is left.
 * Plain JavaScript over Node's own modules: a process that loads TypeScript holds some 40 MB more for as long as it runs.
 * `upbeat start` becomes this process; see `start.ts`.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { isRunByNpx, watchShell } from './shell-watch.mjs';

/** Exit status of the program after a fault that a restart may fix: EX_SOFTWARE of sysexits. */
export const EXIT_FAULT = 70;
/** Exit status of a program that was started with small heaps and has a fleet for large ones: EX_TEMPFAIL of sysexits. */
export const EXIT_LARGE_FLEET = 75;

/**
 * Node's own options for a process, and variables of its environment.
 * @typedef {{ readonly execArgv: readonly string[], readonly env: Readonly<Record<string, string>> }} MemoryPlan
 */

/**
 * The program to keep alive. `entries`: the first that exists is run. `plans`: for a small fleet and, unless there is little
 * memory, for a large one. `prepare`: an entry with its arguments that runs once before the first start; null: none. How it
 * ends does not matter.
 * @typedef {{
 *   readonly entries: readonly string[],
 *   readonly args: readonly string[],
 *   readonly plans: readonly MemoryPlan[],
 *   readonly prepare: readonly string[] | null,
 * }} KeepAliveOrder
 */

/**
 * The end of a child: one of the two is set.
 * @typedef {{ readonly code: number | null, readonly signal: NodeJS.Signals | null }} ChildEnd
 */

/**
 * The step after the end of a child.
 * @typedef {{ readonly kind: 'exit', readonly code: number }
 *   | { readonly kind: 'restart', readonly afterMs: number, readonly failures: number }} NextStep
 */

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 30_000;
/** Exit statuses of a program that cannot start: a disk is full or a file is locked; the configuration is wrong. */
const FAILED_STARTS = [1, 2];
/** A life this long shows that the fault before it was a single one. */
const GOOD_LIFE_MS = 60_000;
const PREPARE_TIMEOUT_MS = 60_000;

/**
 * Decides: a clean end, wrong usage and a failed start end the parent too; everything else is started again. A program
 * that was running is not given up because it cannot start at once: what ended it, such as a full disk, may last.
 * `failures` counts the faults in a row before this one.
 * @param {ChildEnd} end
 * @param {{ readonly wasReady: boolean, readonly livedMs: number, readonly failures: number, readonly stopping: boolean }} life
 * @returns {NextStep}
 */
export function nextStep(end, { wasReady, livedMs, failures, stopping }) {
  if (stopping || end.code === 0) return { kind: 'exit', code: end.code ?? 1 };
  const again = failures > 0 && FAILED_STARTS.includes(end.code ?? 0);
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
 * Runs the program until it ends for good; resolves with the exit status for this process.
 * @param {KeepAliveOrder} order
 * @returns {Promise<number>}
 */
export function keepAlive({ entries, args, plans: [first, large], prepare }) {
  return new Promise((resolve) => {
    let failures = 0;
    let stopping = false;
    let plan = first;
    /** @type {(signal: NodeJS.Signals) => void} */
    let forward = () => {};
    /** @type {readonly NodeJS.Signals[]} */
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) {
      process.on(signal, () => {
        if (signal !== 'SIGHUP') stopping = true;
        forward(signal);
      });
    }
    const start = () => {
      const bornAt = performance.now();
      let ready = false;
      const entry = entries.find((file) => existsSync(file)) ?? '';
      // The channel tells the child when the parent has gone, however it went.
      const mayGrow = plan === first && large !== undefined;
      const heaps = mayGrow ? ['--small-heaps'] : [];
      const child = spawn(process.execPath, [...(plan?.execArgv ?? []), entry, ...args, ...heaps], {
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: { ...process.env, ...plan?.env },
      });
      child.on('message', (message) => {
        if (message === 'ready') ready = true;
      });
      forward = (signal) => void child.kill(signal);
      child.once('exit', (code, signal) => {
        if (code === EXIT_LARGE_FLEET && mayGrow && !stopping) {
          plan = large;
          return start();
        }
        const livedMs = performance.now() - bornAt;
        const step = nextStep({ code, signal }, { wasReady: ready, livedMs, failures, stopping });
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
    if (prepare === null) return start();
    const preparing = spawn(process.execPath, [...prepare], {
      stdio: 'ignore',
      timeout: PREPARE_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    forward = (signal) => {
      if (signal !== 'SIGHUP') preparing.kill('SIGKILL');
    };
    preparing.once('exit', () => (stopping ? resolve(0) : start()));
  });
}

if (import.meta.main) {
  if (isRunByNpx(process.env)) {
    watchShell(
      (periodMs, task) => {
        const timer = setInterval(task, periodMs);
        return () => clearInterval(timer);
      },
      () => process.ppid,
      () => process.kill(process.pid, 'SIGTERM'),
    );
  }
  process.exit(await keepAlive(JSON.parse(process.argv[2] ?? '')));
}
