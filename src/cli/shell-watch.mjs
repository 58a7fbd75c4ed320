/** The shell between npx and us: it takes the signals that are meant for the program, and passes none on. */

/** The delay with which the shell's end is seen, milliseconds. */
const POLL_MS = 250;

/**
 * Returns true if npx has started this very command, which it does by a shell. `env`: the process's environment.
 * @param {Readonly<Record<string, string | undefined>>} env
 */
export function isRunByNpx(env) {
  return env.npm_lifecycle_event === 'npx' && /^["']?upbeat\b/.test(env.npm_lifecycle_script ?? '');
}

/**
 * Calls `onGone` once when the parent process has become another: the one that started us has ended.
 * @param {import('../clock.ts').Clock['every']} every
 * @param {() => number} parentOf
 * @param {() => void} onGone
 * @returns {import('../clock.ts').Cancel}
 */
export function watchShell(every, parentOf, onGone) {
  const shell = parentOf();
  const cancel = every(POLL_MS, () => {
    if (parentOf() === shell) return;
    cancel();
    onGone();
  });
  return cancel;
}
