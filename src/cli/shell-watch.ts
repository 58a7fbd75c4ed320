/** The shell between npx and us: it takes the signals that are meant for the program, and passes none on. */
import type { Cancel, Clock } from '../clock.ts';

/** How soon the shell's end is seen, milliseconds. */
const LOOK_MS = 250;

/** Whether npx has started this very command, which it does by a shell. `env`: the process's environment. */
export function isRunByNpx(env: Readonly<Record<string, string | undefined>>): boolean {
  return env.npm_lifecycle_event === 'npx' && /^["']?upbeat\b/.test(env.npm_lifecycle_script ?? '');
}

/** Calls `onGone` once when the parent process has become another: the one that started us has ended. */
export function watchShell(clock: Clock, parentOf: () => number, onGone: () => void): Cancel {
  const shell = parentOf();
  const cancel = clock.every(LOOK_MS, () => {
    if (parentOf() === shell) return;
    cancel();
    onGone();
  });
  return cancel;
}
