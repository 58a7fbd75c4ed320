/** What the threads of a running program use, as Linux counts it: CPU time, wake-ups and memory. */
import { readdirSync, readFileSync } from 'node:fs';

/** What a thread has used since its start. */
export interface ThreadUse {
  /** The name that the program gave to the thread. */
  readonly name: string;
  /** Time on a processor, microseconds. */
  readonly cpuUs: number;
  /** How often the thread has waited for something, and was woken up. */
  readonly wakeUps: number;
}

/** The threads of a process by their numbers. Throws if it does not exist, or without `/proc`. */
export function readThreads(pid: number): Map<number, ThreadUse> {
  const threads = new Map<number, ThreadUse>();
  for (const name of readdirSync(`/proc/${pid}/task`)) {
    const folder = `/proc/${pid}/task/${name}`;
    try {
      const [ns] = readFileSync(`${folder}/schedstat`, 'utf8').split(' ');
      const status = readFileSync(`${folder}/status`, 'utf8');
      threads.set(Number(name), {
        name: /^Name:\s*(.*)$/m.exec(status)?.[1] ?? '',
        cpuUs: Number(ns) / 1_000,
        wakeUps: Number(/^voluntary_ctxt_switches:\s*(\d+)$/m.exec(status)?.[1]),
      });
    } catch {
      // The thread has ended meanwhile.
    }
  }
  return threads;
}

/** What threads have used between two readings, most CPU time first; threads with the same name together. */
export function useBetween(
  before: ReadonlyMap<number, ThreadUse>,
  after: ReadonlyMap<number, ThreadUse>,
): ThreadUse[] {
  const byName = new Map<string, ThreadUse>();
  for (const [id, { name, cpuUs, wakeUps }] of after) {
    const old = before.get(id);
    const known = byName.get(name);
    byName.set(name, {
      name,
      cpuUs: (known?.cpuUs ?? 0) + cpuUs - (old?.cpuUs ?? 0),
      wakeUps: (known?.wakeUps ?? 0) + wakeUps - (old?.wakeUps ?? 0),
    });
  }
  return [...byName.values()].sort((a, b) => b.cpuUs - a.cpuUs);
}

/** The processes that a process has started and that run, with itself first. */
export function processTree(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const list = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim();
    return list === '' ? [] : list.split(' ').map(Number);
  });
  return [pid, ...children.flatMap(processTree)];
}

/** Resident memory of a process and of all that it has started, bytes; pages that they share count once in `pss`. */
export function memoryOf(pid: number): { readonly rss: number; readonly pss: number } {
  let [rss, pss] = [0, 0];
  for (const one of processTree(pid)) {
    const text = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8');
    rss += Number(/^Rss:\s*(\d+)/m.exec(text)?.[1]) * 1_024;
    pss += Number(/^Pss:\s*(\d+)/m.exec(text)?.[1]) * 1_024;
  }
  return { rss, pss };
}
