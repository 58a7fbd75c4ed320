/** CPU time of other processes, as Linux tells it. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The kernel counts in hundredths of a second (`USER_HZ`, the same on every Linux that Node runs on). */
const TICK_US = 10_000;

/** CPU time that a process has used so far, microseconds. Throws where there is no such process, or no `/proc`. */
export function cpuOfProcess(pid: number): number {
  const [user, system] = readTimes(pid).slice(0, 2);
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

/** CPU time of the children of this process that have ended, microseconds. Throws where there is no `/proc`. */
export function cpuOfEndedChildren(): number {
  const [, , user, system] = readTimes('self');
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

/** utime, stime, cutime and cstime of proc(5); the name before them may have spaces. */
function readTimes(pid: number | 'self'): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
}

/** Where a command is on this machine whose CPU time can be told; null: it is not there. */
export function findCommand(name: string): string | null {
  if (process.platform !== 'linux') return null;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this one.
    }
  }
  return null;
}
