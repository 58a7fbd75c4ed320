/** Tells processes of one machine apart, over reused process ids and containers, and ends one that no longer answers. */
import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

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
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
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
