/** A bound on the memory of the programs that are started in it, as a container has, by a control group of Linux. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The group. */
export interface MemoryCgroup {
  /** What starts a program inside, before the program's own words. */
  readonly enter: readonly string[];
  /** Memory that programs hold and the system cannot take back, and the most that was in use, files included. */
  usage(): { readonly heldBytes: number; readonly peakBytes: number };
  /** Ends when all programs in it have ended. */
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';

/** Makes a group of at most `bytes`, without swap; a string: why the system does not let us. */
export function makeMemoryCgroup(bytes: number): MemoryCgroup | string {
  const isSecond = existsSync(join(ROOT, 'cgroup.controllers'));
  const folder = join(ROOT, isSecond ? '' : 'memory', `upbeat-test-${process.pid}`);
  const [limits, held, peak]: readonly [readonly [string, number][], string, string] = isSecond
    ? [
        [
          ['memory.max', bytes],
          ['memory.swap.max', 0],
        ],
        'anon',
        'memory.peak',
      ]
    : [[['memory.limit_in_bytes', bytes]], 'total_rss', 'memory.max_usage_in_bytes'];
  try {
    mkdirSync(folder);
  } catch (error) {
    return `control groups of memory: ${(error as Error).message}`;
  }
  try {
    for (const [file, value] of limits) writeFileSync(join(folder, file), String(value));
    // The kernel may be built without accounting of swap.
    const swap = join(folder, 'memory.memsw.limit_in_bytes');
    if (existsSync(swap)) writeFileSync(swap, String(bytes));
  } catch (error) {
    rmdirSync(folder);
    return `control groups of memory: ${(error as Error).message}`;
  }
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return {
    enter: ['sh', '-c', `echo $$ > ${join(folder, 'cgroup.procs')} && exec "$@"`, 'enter'],
    usage: () => ({
      heldBytes: Number(new RegExp(`^${held} (\\d+)$`, 'm').exec(read('memory.stat'))?.[1] ?? 0),
      peakBytes: existsSync(join(folder, peak)) ? Number(read(peak)) : 0,
    }),
    remove: () => rmdirSync(folder),
  };
}
