/** CPU time of other processes, as Linux counts it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Redis } from 'ioredis';

/** Ticks of CPU time in a second (USER_HZ of Linux). */
const TICKS = 100;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** CPU time of the process and of its ended children. */
  readonly ticks: number;
}

/** CPU time of a process and of everything that it has started, seconds; 0 if it is gone. */
export function cpuOf(pid: number): number {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(Number(name)) ?? []);
  const family = new Set([pid]);
  // A child has a greater number than its parent, but for the time after the numbers began anew.
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const stat of all) if (family.has(stat.parent)) family.add(stat.pid);
  }
  return all.reduce((sum, stat) => (family.has(stat.pid) ? sum + stat.ticks / TICKS : sum), 0);
}

/** CPU time of a PostgreSQL server with its sessions, seconds. */
export function cpuOfPostgres({ folder }: { readonly folder: string }): number {
  return cpuOf(Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]));
}

/** CPU time of a Redis server, seconds. */
export async function cpuOfRedis(client: Redis): Promise<number> {
  const info = await client.info('cpu');
  const read = (field: string) => Number(new RegExp(`${field}:([\\d.]+)`).exec(info)?.[1]);
  return read('used_cpu_sys') + read('used_cpu_user');
}

/** Reads the fields of `/proc/PID/stat` by their numbers in proc(5); null: the process is gone. */
function statOf(pid: number): Stat | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    const field = (number: number) => Number(fields[number - 3] ?? 0);
    return { pid, parent: field(4), ticks: field(14) + field(15) + field(16) + field(17) };
  } catch {
    return null;
  }
}
