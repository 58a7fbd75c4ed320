/**
 * Renews the writer lease while the main thread of its holder is busy. With a million services, a garbage collection or a
 * batch of results may hold the main thread for seconds on a machine whose processors are busy; another process would take it
 * for one that hangs. The registry's thread, which renews in its place, ends and stops together with the process.
 */
import type { Cancel, Clock } from '../../clock.ts';

/** How often the lease is renewed in the main thread's place. */
const RENEW_MS = 1_000;

/** A main thread that has not renewed the lease for this time hangs: its lease is left to expire. */
export const MAX_BUSY_MS = 15_000;

/** What renews a lease. */
export interface LeaseKeeper {
  /** Notes that the main thread renews the lease. */
  heard(fence: number): void;
  /** Ends it, until the main thread renews again. */
  stop(): void;
}

/** Creates a keeper. `renew` renews the lease with this fence, as the main thread does. */
export function createLeaseKeeper(
  clock: Clock,
  renew: (fence: number, now: number) => Promise<unknown>,
): LeaseKeeper {
  let heardMs = Number.NEGATIVE_INFINITY;
  let held: number | null = null;
  let cancel: Cancel | null = null;
  let isRenewing = false;
  const stop = (): void => {
    cancel?.();
    cancel = null;
    held = null;
  };
  const keep = (): void => {
    const silentMs = clock.monotonic() - heardMs;
    if (held === null || isRenewing || silentMs < RENEW_MS) return;
    if (silentMs > MAX_BUSY_MS) {
      stop();
      return;
    }
    isRenewing = true;
    renew(held, clock.now())
      // The main thread notices a lost lease itself, and a full disk ends at its next renewal.
      .catch(() => undefined)
      .finally(() => {
        isRenewing = false;
      });
  };
  return {
    heard(fence) {
      heardMs = clock.monotonic();
      held = fence;
      cancel ??= clock.every(RENEW_MS, keep);
    },
    stop,
  };
}
