/** Only one process is the monitor of a data directory: it holds a lease that it renews every second. */
import { hostname } from 'node:os';
import type { Clock } from '../../clock.ts';
import type { LeaseClaim, LeaseState } from './lease-rows.ts';
import { RegistryError } from './registry-error.ts';

/** How often the holder renews, milliseconds. */
export const RENEW_MS = 1_000;

/** A lease that was renewed within this time is fresh, milliseconds. */
export const FRESH_MS = 5_000;

/** The lease's place in the database; `openRegistry` gives it as `lease`. */
export interface LeaseBook {
  read(): Promise<LeaseState>;
  /** The new fence; null: somebody else was first. */
  take(claim: LeaseClaim): Promise<number | null>;
  /** Rejects with `lease_lost`. */
  renew(fence: number, now: number): Promise<void>;
  release(fence: number): Promise<void>;
}

/** Who wants the lease. */
export interface LeaseOptions {
  /** Of the registry through which this process will write: once it lost the lease, those writes are refused. */
  readonly book: LeaseBook;
  /** For messages. */
  readonly dataDir: string;
  readonly clock: Clock;
  /**
   * Called once, when another process has become the monitor, or when no renewal went through for 5 s: stop at once.
   */
  readonly onLost: (reason: Error) => void;
  /** Default: this process. */
  readonly self?: LeaseProcess;
}

/** A process as the lease knows it. */
export interface LeaseProcess {
  readonly pid: number;
  readonly host: string;
  /** Whether a process of that id runs on this host. */
  readonly isAlive: (pid: number) => boolean;
}

/** A lease that is held. */
export interface WriterLease {
  /** Grows with every holder of this data directory. */
  readonly fence: number;
  /** Whether it was renewed lately, so that nobody else can have taken it: false after a sleep of this process. */
  isFresh(): boolean;
  /** Gives the lease back; the next process then starts without waiting. */
  release(): Promise<void>;
}

/**
 * Takes the lease of a data directory and keeps it. Rejects with `lease_held`, naming the other's process and host.
 * A holder that is known to be dead, or was not heard of for 5 s, is replaced. Where its process id is our own (two
 * lives of one container), only time can tell: then this waits until the lease is old, or renewed by somebody.
 */
export async function acquireLease(options: LeaseOptions): Promise<WriterLease> {
  const { book, dataDir, clock, self = thisProcess() } = options;
  for (;;) {
    const state = await book.read();
    const standing = judgeLease(state, self, clock.now());
    if (standing === 'held') throw leaseHeld(state, dataDir);
    if (standing === 'unclear' && (await wasRenewed(book, state, clock))) throw leaseHeld(state, dataDir);
    const { pid, host } = self;
    const fence = await book.take({ pid, host, replacing: state.fence, now: clock.now() });
    if (fence !== null) return keepLease(options, fence);
  }
}

/** Whether a lease may be taken: `free`, `held` by a living process, or `unclear`, because the holder may be our former self. */
export function judgeLease(
  { holder, renewedAt }: LeaseState,
  self: LeaseProcess,
  now: number,
): 'free' | 'held' | 'unclear' {
  if (holder === null) return 'free';
  // A lease from the future is as old as one from the past: some clock was set.
  if (Math.abs(now - renewedAt) > FRESH_MS) return 'free';
  if (holder.host !== self.host) return 'held';
  if (holder.pid === self.pid) return 'unclear';
  return self.isAlive(holder.pid) ? 'held' : 'free';
}

/** Waits until the lease can no longer be fresh; true: somebody renewed it or took it meanwhile. */
async function wasRenewed(book: LeaseBook, before: LeaseState, clock: Clock): Promise<boolean> {
  // The clock's timers let a process end that has nothing else to do; this one is still starting.
  const awake = setInterval(() => {}, FRESH_MS);
  await new Promise<void>((resolve) => {
    clock.after(FRESH_MS, resolve);
  });
  clearInterval(awake);
  const after = await book.read();
  return after.fence !== before.fence || after.renewedAt !== before.renewedAt;
}

function keepLease({ book, clock, onLost }: LeaseOptions, fence: number): WriterLease {
  let renewedAt = clock.monotonic();
  let over = false;
  const lose = (error: Error) => {
    if (over) return;
    over = true;
    cancel();
    onLost(error);
  };
  const cancel = clock.every(RENEW_MS, () => {
    book.renew(fence, clock.now()).then(
      () => {
        renewedAt = clock.monotonic();
      },
      (error: Error & { code?: string }) => {
        // A disk that is full or slow for a moment is no reason to stop; a lease that cannot be kept is.
        if (error.code === 'lease_lost' || clock.monotonic() - renewedAt >= FRESH_MS) lose(error);
      },
    );
  });
  return {
    fence,
    isFresh: () => !over && clock.monotonic() - renewedAt < FRESH_MS,
    async release() {
      if (over) return;
      over = true;
      cancel();
      await book.release(fence);
    },
  };
}

function leaseHeld({ holder }: LeaseState, dataDir: string): RegistryError {
  return new RegistryError(
    'lease_held',
    `Process ${holder?.pid} on ${holder?.host} is the monitor of ${dataDir} already. Stop it first, or give this one another storage.dataDir.`,
  );
}

function thisProcess(): LeaseProcess {
  return {
    pid: process.pid,
    host: hostname(),
    isAlive(pid) {
      try {
        process.kill(pid, 0);
        return true;
      } catch (error) {
        // EPERM: it runs, under another user.
        return (error as NodeJS.ErrnoException).code !== 'ESRCH';
      }
    },
  };
}
