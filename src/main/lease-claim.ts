/** Which part a process plays: the monitor of its data directory, or beside one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import type { WriterLease } from '../store/registry/writer-lease.ts';

/** Asks for the lease; rejects with the code `lease_held` where another process has it. */
export type AcquireLease = () => Promise<WriterLease>;

/** A claim that is kept up. */
export interface LeaseClaim {
  /** The lease, as soon as no other process has it. Never rejects; never resolves after `give`. */
  readonly lease: Promise<WriterLease>;
  /** Ends the claim. A lease that comes all the same is given back. */
  give(): Promise<void>;
}

const PATIENCE_MS = 6_000;
const RETRY_MS = 200;

/**
 * Waits for the lease of a process that cannot do without. One that was killed may still be in the system's list, and
 * one that was told to stop still at it: the lease is asked for until it would be stale, before a start is refused.
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

/** Claims the lease again and again, for a process that serves meanwhile. */
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
