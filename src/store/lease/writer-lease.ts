/**
 * Only one process is the monitor of a data directory: it holds a lease that it renews every second. Processes of one
 * machine are distinguished even across reused process IDs and containers, and a holder that hangs is killed.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { errorCodeOf, messageOf } from '../../error.ts';
import type { Log } from '../../log.ts';
import { RegistryError } from '../database/registry-error.ts';
import type { LeaseHolder, LeaseState, LeaseStore } from '../ports/lease.ts';
import { refusalOf } from '../ports/storage-health.ts';

/** The interval at which the holder renews, milliseconds. */
const RENEW_MS = 1_000;

/**
 * A lease that was renewed within this time is fresh, milliseconds. Including the renewal interval, the pause between
 * two requests and the start as the monitor, evaluation is interrupted for less than 5 s when a monitor ends.
 */
export const FRESH_MS = 4_000;

export interface LeaseOptions {
  /** The lease store of the registry to which this process will write. Once the lease is lost, these writes are refused. */
  readonly store: LeaseStore;
  /** Location of the registry for messages: the data directory or the database. */
  readonly place: string;
  readonly clock: Clock;
  /**
   * Called once, when another process has become the monitor, or when no renewal has succeeded for 4 s. The process must stop at once.
   */
  readonly onLost: (reason: Error) => void;
  /** Default: this process. */
  readonly self?: LeaseProcess;
  /**
   * The observations of a process that requests the lease repeatedly. Without it, the age of the lease is computed from
   * the time in it.
   */
  readonly sight?: LeaseSight;
  /**
   * Returns true if the holder must be replaced although it renews the lease, because it is cut off from the other processes.
   * Absent: never.
   */
  readonly isCutOff?: (holder: LeaseHolder) => boolean;
  /** Called when a former monitor was killed or is cut off; absent: not reported. */
  readonly log?: Log;
}

export interface LeaseProcess {
  readonly pid: number;
  readonly host: string;
  /** Returns true if a process with that ID runs on this host. */
  readonly isAlive: (pid: number) => boolean;
  /** Identity that distinguishes the process from all others; absent: not available. */
  readonly identity?: string | null;
  /** The identity of a process of this host; absent or null: not available. */
  readonly identityOf?: (pid: number) => string | null;
  /** Kills the process with that identity; rejects if it cannot. Absent: no process is killed. */
  readonly end?: (pid: number, identity: string) => Promise<void>;
}

/**
 * The observations of the lease by a process. They measure its age by the process's own monotonic clock, independently of wall clocks.
 */
export type LeaseSight = ReturnType<typeof createLeaseSight>;

interface Moment {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly monotonicMs: number;
}

/** Creates the observations of a process that has not read the lease yet. */
export function createLeaseSight(clock: Clock) {
  let known: { readonly fence: number; readonly renewedAt: number; readonly sinceMs: number } | null = null;
  let firstSeenMs = clock.monotonic();
  let lastAskedMs = firstSeenMs;
  let isInterrupted = false;
  return {
    /** The store did not respond. The holder could not renew the lease either, so its age counts from the next observation on. */
    interrupt(): void {
      isInterrupted = true;
    },
    /** Milliseconds for which the process has observed the lease unchanged, not counting time before the first observation. */
    watchedMs: (): number => lastAskedMs - firstSeenMs,
    /**
     * Milliseconds for which the lease has certainly been unchanged; null: this is the first observation. `asked`: when the
     * state was requested. It may be older by the time at which this process, which may have been busy, takes the response.
     */
    look(state: LeaseState, asked: Moment): number | null {
      const { fence } = state;
      const renewedAt = seenAt(state);
      const nowMs = clock.monotonic();
      lastAskedMs = asked.monotonicMs;
      if (isInterrupted && known !== null) {
        known = { ...known, sinceMs: nowMs };
        firstSeenMs = nowMs;
      }
      isInterrupted = false;
      if (known?.fence === fence && known.renewedAt === renewedAt) return asked.monotonicMs - known.sinceMs;
      const isFirst = known === null;
      // At the first observation the lease may already have some age, so it may be taken that much sooner.
      const sinceMs = isFirst ? asked.monotonicMs - Math.max(0, asked.at - renewedAt) : nowMs;
      known = { fence, renewedAt, sinceMs };
      firstSeenMs = nowMs;
      return isFirst ? null : 0;
    },
  };
}

/**
 * Takes the lease of a data directory and renews it. Rejects with `lease_held`, naming process and host of the holder.
 * A holder that is known to be dead, has not renewed the lease for 4 s, or is cut off is replaced. If the holder has the process
 * ID of this process, as after the restart of a container, this waits until the lease expires or is renewed.
 *
 * A holder that hangs on this machine is killed first, because a process that is suspended inside a transaction would
 * hold SQLite's lock indefinitely. It must be the process that took the lease, and this process must have observed the
 * lease for 4 s by its own clock.
 *
 * Time for which the server of the registry was unavailable does not count, because the holder could not renew the lease
 * then. Otherwise a waiting process would replace it at the end of each outage.
 */
export async function acquireLease(options: LeaseOptions): Promise<WriterLease> {
  try {
    return await requestLease(options);
  } catch (error) {
    if (refusalOf(error)?.code === 'storage_unreachable') options.sight?.interrupt();
    throw error;
  }
}

async function requestLease(options: LeaseOptions): Promise<WriterLease> {
  const { store, place, clock, log, sight, self = thisProcess() } = options;
  for (;;) {
    const asked = { at: clock.now(), monotonicMs: clock.monotonic() };
    const state = await store.readLease();
    const { holder } = state;
    const isCutOff = holder !== null && (options.isCutOff?.(holder) ?? false);
    const seenForMs = sight?.look(state, asked) ?? null;
    const standing = isCutOff ? 'free' : judgeLease(state, self, asked.at, seenForMs);
    if (standing === 'held') throw leaseHeld(state, place);
    if (standing === 'unclear' && (await wasRenewed(store, state, clock))) throw leaseHeld(state, place);
    if (!isCutOff && hangs(state, self)) {
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
      // No other process can take the lease either. Stored data can be served, and services can be checked.
      if (refusalOf(error)?.code === 'storage_full') return store.claimLease(claim);
      throw error;
    });
    if (fence === null) continue;
    if (isCutOff)
      log?.warn({ ...holder, registry: place }, 'the monitor is cut off from Redis and is replaced');
    return keepLease(options, fence, askedAt);
  }
}

/**
 * The state of a lease: `free`, `held` by a live process, or `unclear`, because the holder may be an earlier run with the same
 * process ID. `seenForMs` is the age by {@link LeaseSight}.
 */
export function judgeLease(
  state: LeaseState,
  self: LeaseProcess,
  now: number,
  seenForMs: number | null,
): 'free' | 'held' | 'unclear' {
  const { holder } = state;
  if (holder === null) return 'free';
  // A time in the future counts like one in the past, since it shows that a clock was set.
  if ((seenForMs ?? Math.abs(now - seenAt(state))) > FRESH_MS) return 'free';
  if (!isHere(holder, self)) return 'held';
  if (holder.pid === self.pid) return 'unclear';
  return self.isAlive(holder.pid) ? 'held' : 'free';
}

/**
 * Returns true if the holder's process ID is valid on this machine. Machines and containers may share a host name; the boot ID
 * and the namespace of process IDs, with which an identity begins, distinguish them.
 */
function isHere({ host, process = null }: LeaseHolder, self: LeaseProcess): boolean {
  if (host !== self.host) return false;
  const { identity = null } = self;
  if (process === null || identity === null) return true;
  const placeOf = (text: string) => text.split(' ').slice(0, 2).join(' ');
  return placeOf(process) === placeOf(identity);
}

/** Returns true if the holder of an expired lease is a process of this machine that still runs. */
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
    // If the holder holds no lock, this process can become the monitor anyway.
    const problem = messageOf(error);
    log?.warn(
      { pid, registry: place, problem },
      'the former monitor hangs and cannot be ended; end it by hand',
    );
  }
}

/** Waits until the lease must have expired; true: a process renewed or took it meanwhile. */
async function wasRenewed(store: LeaseStore, before: LeaseState, clock: Clock): Promise<boolean> {
  // Timers of `Clock` do not keep a process alive, and this process is still starting.
  const awake = setInterval(() => {}, FRESH_MS);
  await new Promise<void>((resolve) => {
    clock.after(FRESH_MS, resolve);
  });
  clearInterval(awake);
  const after = await store.readLease();
  return after.fence !== before.fence || seenAt(after) !== seenAt(before);
}

/** Time of the holder's last renewal or mark, epoch milliseconds of its clock. */
function seenAt({ renewedAt, markedAt = 0 }: LeaseState): number {
  return Math.max(renewedAt, markedAt);
}

export type WriterLease = ReturnType<typeof keepLease>;

/** `askedAt`: time of the request, monotonic milliseconds. */
function keepLease({ store, clock, onLost }: LeaseOptions, fence: number, askedAt: number) {
  let renewedAt = askedAt;
  let over = false;
  const lose = (error: Error) => {
    if (over) return;
    over = true;
    cancel();
    onLost(error);
  };
  /** True: a renewal is waiting for the lock of another process. */
  let renewing = false;
  /** Runs `step`. If it succeeds, this process held the lease when the step began. */
  const prove = async (step: () => Promise<void>): Promise<void> => {
    // The time of the request counts, not that of the response, since the process may have been suspended in between and replaced.
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
      // While the disk refuses writes, no other process can take the lease. This process holds it as long as the row says so.
      if (refusalOf(error) === null) throw error;
      await mark();
    } finally {
      renewing = false;
    }
  };
  const cancel = clock.every(RENEW_MS, () => {
    (renewing ? mark() : renew()).catch((error: Error & { code?: string }) => {
      // A slow thread is not a reason to stop, but an expired lease is.
      if (error.code === 'lease_lost' || clock.monotonic() - renewedAt >= FRESH_MS) lose(error);
    });
  });
  return {
    /** Increases with every holder of this data directory. */
    fence,
    /** Returns true if it was renewed recently, so that no other process can have taken it; false after a sleep of this process. */
    isFresh: (): boolean => !over && clock.monotonic() - renewedAt < FRESH_MS,
    /** Releases the lease, so that the next process starts without waiting. */
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

/** A process ends within milliseconds of SIGKILL, unless it waits for a device. */
const END_TIMEOUT_MS = 2_000;
const LOOK_MS = 10;

/**
 * The unique identity of a process: the machine's boot ID, the namespace of process IDs, the process ID, and its start time in ticks
 * since the boot. It is read from Linux' /proc. Null: the system does not have /proc, or there is no such process.
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

/** Returns true if a process with that ID runs on this machine. A zombie does not count. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process runs as another user.
    if (errorCodeOf(error) === 'ESRCH') return false;
  }
  return !['Z', 'X'].includes(statOf(pid)?.state ?? '');
}

/**
 * Kills the process with this identity by SIGKILL and waits until it has ended. Rejects if that is not permitted or
 * takes over 2 s. Does nothing if another process has the ID by now.
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
    // The name, in parentheses, may contain any characters.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, startedAt] = [fields[0], fields[19]];
    return state === undefined || startedAt === undefined ? null : { state, startedAt };
  } catch {
    return null;
  }
}
