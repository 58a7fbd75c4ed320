/**
 * Only one process is the monitor of a data directory: it holds a lease that it renews every second. Processes of one
 * machine are told apart over reused process ids and containers, and a holder that no longer answers is ended.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { errorCodeOf, messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import type { LeaseHolder, LeaseState, LeaseStore } from '../ports/lease.ts';
import { refusalOf } from '../ports/storage-health.ts';
import { RegistryError } from './registry-error.ts';

/** How often the holder renews, milliseconds. */
const RENEW_MS = 1_000;

/**
 * A lease that was renewed within this time is fresh, milliseconds. With the renewal before, the pause between two
 * requests and the start as the monitor, the end of a monitor costs less than 5 s of evaluation.
 */
export const FRESH_MS = 4_000;

/** Who wants the lease. */
export interface LeaseOptions {
  /** Of the registry through which this process will write: once it lost the lease, those writes are refused. */
  readonly store: LeaseStore;
  /** Where the registry is, for messages: the data directory, or the database. */
  readonly place: string;
  readonly clock: Clock;
  /**
   * Called once, when another process has become the monitor, or when no renewal went through for 4 s: stop at once.
   */
  readonly onLost: (reason: Error) => void;
  /** Default: this process. */
  readonly self?: LeaseProcess;
  /** Of a process that asks again and again; without it the lease's age goes by the time that stands in it. */
  readonly sight?: LeaseSight;
  /** Called when a former monitor was ended; absent: not reported. */
  readonly log?: Pick<Log, 'warn'>;
}

/** A process as the lease knows it. */
export interface LeaseProcess {
  readonly pid: number;
  readonly host: string;
  /** Whether a process of that id runs on this host. */
  readonly isAlive: (pid: number) => boolean;
  /** What tells it from every other process; absent: nothing does. */
  readonly identity?: string | null;
  /** What tells a process of this host from every other; absent or null: nothing does. */
  readonly identityOf?: (pid: number) => string | null;
  /** Ends the process with that identity; rejects where it cannot. Absent: none is ended. */
  readonly end?: (pid: number, identity: string) => Promise<void>;
}

/** What a process has seen of the lease: how old it is goes by its own monotonic clock, whatever clocks are set to. */
export type LeaseSight = ReturnType<typeof createLeaseSight>;

/** Makes the sight of a process that has not looked yet. */
export function createLeaseSight(clock: Clock) {
  let known: { readonly fence: number; readonly renewedAt: number; readonly sinceMs: number } | null = null;
  let firstSeenMs = clock.monotonic();
  return {
    /** Milliseconds for which it has watched the lease as it is, without what clocks say of the time before the first look. */
    watchedMs: (): number => clock.monotonic() - firstSeenMs,
    /** Milliseconds for which the lease has stood as it is; null: it was never looked at before. */
    look(state: LeaseState): number | null {
      const { fence } = state;
      const renewedAt = seenAt(state);
      const nowMs = clock.monotonic();
      if (known?.fence === fence && known.renewedAt === renewedAt) return nowMs - known.sinceMs;
      const isFirst = known === null;
      // At the first look it may be a little old already, and may be taken that much sooner.
      const ageMs = isFirst ? Math.max(0, clock.now() - renewedAt) : 0;
      known = { fence, renewedAt, sinceMs: nowMs - ageMs };
      firstSeenMs = nowMs;
      return isFirst ? null : 0;
    },
  };
}

/**
 * Takes the lease of a data directory and keeps it. Rejects with `lease_held`, naming the other's process and host.
 * A holder that is known to be dead, or was not heard of for 4 s, is replaced. Where its process id is our own (two
 * lives of one container), only time can tell: then this waits until the lease is old, or renewed.
 *
 * A holder that hangs on this machine is ended first: stopped inside a transaction it would keep SQLite's lock indefinitely.
 * It must be the very process that took the lease, and this one must have watched the lease for 4 s by its own clock.
 */
export async function acquireLease(options: LeaseOptions): Promise<WriterLease> {
  const { store, place, clock, sight, self = thisProcess() } = options;
  for (;;) {
    const state = await store.readLease();
    const standing = judgeLease(state, self, clock.now(), sight?.look(state) ?? null);
    if (standing === 'held') throw leaseHeld(state, place);
    if (standing === 'unclear' && (await wasRenewed(store, state, clock))) throw leaseHeld(state, place);
    if (hangs(state, self)) {
      const isProven =
        sight === undefined ? !(await wasRenewed(store, state, clock)) : sight.watchedMs() > FRESH_MS;
      if (!isProven) throw leaseHeld(state, place);
      await endHolder(state, options, self);
    }
    const { pid, host, identity = null } = self;
    const askedAt = clock.monotonic();
    const { fence: replacing, renewedAt } = state;
    const claim = { pid, host, process: identity, replacing, renewedAt, now: clock.now() };
    const fence = await store.takeLease(claim).catch((error: unknown) => {
      // No other process can take it either; stored data can be served, and services can be checked.
      if (refusalOf(error)?.code === 'storage_full') return store.claimLease(claim);
      throw error;
    });
    if (fence !== null) return keepLease(options, fence, askedAt);
  }
}

/**
 * Whether a lease may be taken: `free`, `held` by a living process, or `unclear`, because the holder may be our former
 * self. `seenForMs` is what a {@link LeaseSight} says.
 */
export function judgeLease(
  state: LeaseState,
  self: LeaseProcess,
  now: number,
  seenForMs: number | null,
): 'free' | 'held' | 'unclear' {
  const { holder } = state;
  if (holder === null) return 'free';
  // A lease from the future is as old as one from the past: some clock was set.
  if ((seenForMs ?? Math.abs(now - seenAt(state))) > FRESH_MS) return 'free';
  if (!isHere(holder, self)) return 'held';
  if (holder.pid === self.pid) return 'unclear';
  return self.isAlive(holder.pid) ? 'held' : 'free';
}

/**
 * Whether process ids of the holder mean anything here. Machines and containers may share a host name; the boot and the
 * namespace of process ids, which an identity begins with, tell them apart.
 */
function isHere({ host, process = null }: LeaseHolder, self: LeaseProcess): boolean {
  if (host !== self.host) return false;
  const { identity = null } = self;
  if (process === null || identity === null) return true;
  const placeOf = (text: string) => text.split(' ').slice(0, 2).join(' ');
  return placeOf(process) === placeOf(identity);
}

/** Whether the holder of a lease that may be taken is a process of this machine that still runs. */
function hangs({ holder }: LeaseState, self: LeaseProcess): boolean {
  if (holder === null || !isHere(holder, self) || holder.pid === self.pid) return false;
  const { pid, process: identity = null } = holder;
  return identity !== null && self.isAlive(pid) && self.identityOf?.(pid) === identity;
}

async function endHolder(
  { holder }: LeaseState,
  { place, log }: LeaseOptions,
  { end }: LeaseProcess,
): Promise<void> {
  if (holder === null || end === undefined) return;
  const { pid, process: identity } = holder;
  try {
    await end(pid, identity ?? '');
    log?.warn({ pid, registry: place }, 'the former monitor hangs and was ended, so that it holds no lock');
  } catch (error) {
    // Where it holds no lock, this one becomes the monitor all the same.
    const problem = messageOf(error);
    log?.warn(
      { pid, registry: place, problem },
      'the former monitor hangs and cannot be ended; end it by hand',
    );
  }
}

/** Waits until the lease can no longer be fresh; true: a process renewed or took it meanwhile. */
async function wasRenewed(store: LeaseStore, before: LeaseState, clock: Clock): Promise<boolean> {
  // The clock's timers let a process end that has nothing else to do; this one is still starting.
  const awake = setInterval(() => {}, FRESH_MS);
  await new Promise<void>((resolve) => {
    clock.after(FRESH_MS, resolve);
  });
  clearInterval(awake);
  const after = await store.readLease();
  return after.fence !== before.fence || seenAt(after) !== seenAt(before);
}

/** When the holder was last heard of, epoch milliseconds of its clock. */
function seenAt({ renewedAt, markedAt = 0 }: LeaseState): number {
  return Math.max(renewedAt, markedAt);
}

/** A lease that is held. */
export type WriterLease = ReturnType<typeof keepLease>;

/** `askedAt`: when the lease was asked for, by the monotonic clock. */
function keepLease({ store, clock, onLost }: LeaseOptions, fence: number, askedAt: number) {
  let renewedAt = askedAt;
  let over = false;
  const lose = (error: Error) => {
    if (over) return;
    over = true;
    cancel();
    onLost(error);
  };
  /** A renewal waits for another process's lock. */
  let renewing = false;
  /** Runs `step`; the lease was ours when it was asked for. */
  const prove = async (step: () => Promise<void>): Promise<void> => {
    // Not when the answer comes: this process may have slept in between, and have a successor by then.
    const askedAt = clock.monotonic();
    await step();
    renewedAt = Math.max(renewedAt, askedAt);
  };
  const mark = (): Promise<void> => prove(() => store.markLease(fence, clock.now()));
  const renew = async (): Promise<void> => {
    renewing = true;
    try {
      await prove(() => store.renewLease(fence, clock.now()));
    } catch (error) {
      // Where a disk takes no writes, no other process can take the lease: it is ours as long as the row says so.
      if (refusalOf(error) === null) throw error;
      await mark();
    } finally {
      renewing = false;
    }
  };
  const cancel = clock.every(RENEW_MS, () => {
    (renewing ? mark() : renew()).catch((error: Error & { code?: string }) => {
      // A thread that is slow for a moment is no reason to stop; a lease that cannot be kept is.
      if (error.code === 'lease_lost' || clock.monotonic() - renewedAt >= FRESH_MS) lose(error);
    });
  });
  return {
    /** Grows with every holder of this data directory. */
    fence,
    /** Whether it was renewed recently, so that no other process can have taken it; false after a sleep of this process. */
    isFresh: (): boolean => !over && clock.monotonic() - renewedAt < FRESH_MS,
    /** Gives the lease back; the next process then starts without waiting. */
    async release(): Promise<void> {
      if (over) return;
      over = true;
      cancel();
      await store.releaseLease(fence);
    },
  };
}

function leaseHeld({ holder }: LeaseState, place: string): RegistryError {
  return new RegistryError(
    'lease_held',
    `Process ${holder?.pid} on ${holder?.host} is the monitor of ${place} already. Stop it first, or give this one another storage.dataDir or storage.postgres.url.`,
  );
}

function thisProcess(): LeaseProcess {
  const { pid } = process;
  const identity = identityOf(pid);
  return { pid, host: hostname(), isAlive: isRunning, identity, identityOf, end: endProcess };
}

/** An end by SIGKILL takes milliseconds, unless the process waits for a device. */
const END_TIMEOUT_MS = 2_000;
const LOOK_MS = 10;

/**
 * What no two processes have in common: the machine's boot, the namespace of process ids, the id, and when the process
 * started, in ticks since the boot. Null where the system does not tell (it is read from Linux' /proc), or where there is
 * no such process.
 */
export function identityOf(pid: number): string | null {
  const stat = statOf(pid);
  if (stat === null) return null;
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')} ${pid} ${stat.startedAt}`;
  } catch {
    return null;
  }
}

/** Whether a process of that id runs on this machine; one that has ended and waits for its parent does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, under another user.
    if (errorCodeOf(error) === 'ESRCH') return false;
  }
  return !['Z', 'X'].includes(statOf(pid)?.state ?? '');
}

/**
 * Ends the process with this identity by SIGKILL, and waits until it has ended. Rejects where that is not allowed, or
 * takes over 2 s; where another process has the id by now, there is nothing to do.
 */
export async function endProcess(pid: number, identity: string): Promise<void> {
  if (identityOf(pid) !== identity) return;
  process.kill(pid, 'SIGKILL');
  for (let waitedMs = 0; isRunning(pid) && identityOf(pid) === identity; waitedMs += LOOK_MS) {
    if (waitedMs >= END_TIMEOUT_MS) throw new Error('it has not ended within 2 s');
    await sleep(LOOK_MS);
  }
}

/** State and start of a process, as proc_pid_stat(5) has them; null: there is none, or no /proc. */
function statOf(pid: number): { readonly state: string; readonly startedAt: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in brackets, may hold anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    return state === undefined || startedAt === undefined ? null : { state, startedAt };
  } catch {
    return null;
  }
}
