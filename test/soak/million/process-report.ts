/** Memory and CPU time of a program and everything that it has started, from Linux' /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** What the processes hold and have used. */
export interface ProcessReport {
  /** Memory, with pages that several processes share divided among them (PSS), bytes. */
  readonly heldBytes: number;
  /** The highest resident memory that each process had, together, bytes. */
  readonly peakBytes: number;
  /** CPU time by thread, seconds. */
  readonly cpuOfThreads: ReadonlyMap<string, number>;
}

/** Reads the processes with `pid` and its descendants. */
export function readProcesses(pid: number): ProcessReport {
  const cpuOfThreads = new Map<string, number>();
  let heldBytes = 0;
  let peakBytes = 0;
  for (const member of familyOf(pid)) {
    const kilobytes = (file: string, field: string) =>
      Number(
        new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readOrEmpty(`/proc/${member}/${file}`))?.[1] ?? 0,
      );
    heldBytes += kilobytes('smaps_rollup', 'Pss') * 1_024;
    peakBytes += kilobytes('status', 'VmHWM') * 1_024;
    for (const thread of listOrEmpty(`/proc/${member}/task`)) {
      const stat = readOrEmpty(`/proc/${member}/task/${thread}/stat`);
      const name = `${/\((.*)\)/.exec(stat)?.[1]} ${thread}`;
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      cpuOfThreads.set(name, (Number(fields[11]) + Number(fields[12])) / 100);
    }
  }
  return { heldBytes, peakBytes, cpuOfThreads };
}

function familyOf(pid: number): readonly number[] {
  const children = listOrEmpty(`/proc/${pid}/task`).flatMap((thread) =>
    readOrEmpty(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
  return [pid, ...children.flatMap(familyOf)];
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function listOrEmpty(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
