/**
 * Ends everything that a run of the tests has started. Test files start programs in process groups of their own, which
 * outlive a test file that is killed, so that the group of the run does not suffice.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The variable that every process of a run inherits. Tests hide `UPBEAT_…` and `TAP…` from the programs they start. */
const RUN_VARIABLE = 'TEST_RUN_ID';

/** Marks this process, so that `killMarkedProcesses` finds everything it starts from now on. Returns the mark. */
export function markRun(): string {
  process.env[RUN_VARIABLE] = String(process.pid);
  return `${RUN_VARIABLE}=${process.pid}`;
}

/**
 * The processes with the mark in the environment they were started with, other than this one. Linux only: elsewhere
 * none.
 */
export function findMarkedProcesses(mark: string): number[] {
  return processIds().filter((id) => id !== process.pid && environmentOf(id).includes(mark));
}

/** Kills the marked processes, and those that they start meanwhile. */
export function killMarkedProcesses(mark: string): void {
  for (let found = findMarkedProcesses(mark); found.length > 0; found = findMarkedProcesses(mark))
    for (const id of found) {
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
}

function processIds(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** What a process was started with; nothing for one that has ended (a zombie's is empty) or is another user's. */
function environmentOf(id: number): readonly string[] {
  try {
    return readFileSync(`/proc/${id}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
