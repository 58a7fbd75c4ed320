/** The registry for requests, which wait for a thread that hangs no longer than it takes to notice. */
import type { Methods } from '../../thread/rpc.ts';
import type { StorageProblem } from '../ports/storage-health.ts';

/** The signal that the registry's thread hangs. */
export interface Silence {
  /** Null: the thread answers. */
  problem(): StorageProblem | null;
  /** Calls `listener` when the thread is found to hang. Returns what removes the listener. */
  watch(listener: (problem: StorageProblem) => void): () => void;
}

/**
 * Wraps the methods in `names` of a registry: while its thread hangs, a call rejects at once with `storage_unreachable`, as it does while
 * PostgreSQL is away, and so do the calls that are under way when that is noticed. What those were to write may still be written, when the
 * thread goes on: as after any time-out, it is safe to repeat them. The other members are unchanged.
 */
export function refuseWhileSilent<Store extends object>(
  store: Store,
  names: readonly string[],
  silence: Silence,
): Store {
  const waiting = new Set<(error: Error) => void>();
  silence.watch((problem) => {
    for (const reject of waiting) reject(errorOf(problem));
    waiting.clear();
  });
  const bounded = (call: () => Promise<unknown>): Promise<unknown> => {
    const problem = silence.problem();
    if (problem !== null) return Promise.reject(errorOf(problem));
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      call()
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });
  };
  const methods = store as Methods;
  const wrapped = names.flatMap((name) => {
    const method = methods[name];
    return typeof method !== 'function'
      ? []
      : [[name, (...args: never[]) => bounded(async () => await method(...args))] as const];
  });
  return { ...store, ...Object.fromEntries(wrapped) };
}

function errorOf({ code, message }: StorageProblem): Error {
  return Object.assign(new Error(message), { code });
}
