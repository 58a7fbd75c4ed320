/**
 * Ends everything that a run of the tests has started. Test files start programs in process groups of their own, which
 * outlive a test file that is killed, so that the group of the run does not suffice.
 */
import { readdirSync, readFileSync } from 'node:fs';

/** The variable that every process of a run inherits. Tests hide `UPBEAT_…` and `TAP…` from the programs they start. */
const RUN_VARIABLE = 'TEST_RUN_ID';
const GIVE_UP_MS = 5_000;

/** Marks this process, so that `killMarkedProcesses` finds everything it starts from now on. Returns the mark. */
export function markRun(): string {
  process.env[RUN_VARIABLE] = String(process.pid);
  return `${RUN_VARIABLE}=${process.pid}`;
}

/**
 * The processes with the mark in the environment they were started with, and all that descend from them, other than
 * this one. Redis writes its title over its environment, so that only its parent tells whose it is. Linux only:
 * elsewhere none.
 */
export function findMarkedProcesses(mark: string): number[] {
  const ids = processIds().filter((id) => id !== process.pid);
  const found = new Set(ids.filter((id) => environmentOf(id).includes(mark)));
  // The run itself got its mark after it was started.
  if (mark === `${RUN_VARIABLE}=${process.pid}`) found.add(process.pid);
  const parents = new Map(ids.map((id) => [id, parentOf(id)]));
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [id, parent] of parents) if (parent !== null && found.has(parent)) found.add(id);
  }
  found.delete(process.pid);
  return [...found];
}

/** Kills the marked processes, and those that they start meanwhile. Gives up on what is still there after 5 s. */
export function killMarkedProcesses(mark: string): void {
  const deadline = performance.now() + GIVE_UP_MS;
  while (performance.now() < deadline) {
    const found = findMarkedProcesses(mark);
    if (found.length === 0) return;
    for (const id of found) {
      try {
        process.kill(id, 'SIGKILL');
      } catch {
        // It has just ended.
      }
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

/** The parent of a process; null: it has ended. */
function parentOf(id: number): number | null {
  try {
    // The name stands in parentheses and may hold anything; state and parent follow it.
    return Number(/.*\) \S (\d+)/s.exec(readFileSync(`/proc/${id}/stat`, 'latin1'))?.[1] ?? 0);
  } catch {
    return null;
  }
}
