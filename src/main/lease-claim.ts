/** Acquires the lease that makes a process the monitor of its data directory. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { WriterLease } from '../store/registry/writer-lease.ts';

/** Requests the lease. Rejects with the code `lease_held` if another process holds it. */
export type AcquireLease = () => Promise<WriterLease>;

/** A pending request for the lease. */
export interface LeaseClaim {
  /** Resolves with the lease once no other process holds it. Never rejects, and never resolves after `give`. */
  readonly lease: Promise<WriterLease>;
  /** Withdraws the request. A lease that is granted nevertheless is released. */
  give(): Promise<void>;
}

const PATIENCE_MS = 6_000;
const RETRY_MS = 200;

/**
 * Waits for the lease in a process that cannot work without it. A killed holder may still be in the process list, and a
 * stopping one may not have finished. The lease is therefore requested until it would expire before the start is refused.
 */
export async function waitForLease(acquire: AcquireLease, log: Log): Promise<WriterLease> {
  const until = systemClock.monotonic() + PATIENCE_MS;
  for (let told = false; ; told = true) {
    try {
      return await acquire();
    } catch (error) {
      if (!isHeld(error) || systemClock.monotonic() > until) throw error;
      if (!told) log.info({ problem: (error as Error).message }, 'waiting for another process to end');
      await sleep(RETRY_MS);
    }
  }
}

/** Requests the lease repeatedly, for a process that serves meanwhile. */
export function claimLease(acquire: AcquireLease, log: Log): LeaseClaim {
  const claimed = Promise.withResolvers<WriterLease>();
  let given = false;
  let told = '';

  async function run(): Promise<void> {
    while (!given) {
      try {
        const lease = await acquire();
        if (given) await lease.release();
        else claimed.resolve(lease);
        return;
      } catch (error) {
        const { message } = error as Error;
        if (!isHeld(error) && message !== told)
          log.warn({ problem: message }, 'the lease cannot be requested');
        told = message;
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  const running = run();
  return {
    lease: claimed.promise,
    async give() {
      given = true;
      await running;
    },
  };
}

function isHeld(error: unknown): boolean {
  return (error as { code?: string }).code === 'lease_held';
}
