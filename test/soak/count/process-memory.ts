/** Memory of a process and everything that it started, from Linux' /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Resident bytes of `pid` and its descendants; null where there is no /proc. */
export function residentBytes(pid: number): number | null {
  const parents = new Map<number, number>();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const stat = readOrNull(`/proc/${name}/stat`);
      // The name of the program, in brackets, may itself hold brackets and blanks.
      const parent = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[1];
      if (parent !== undefined) parents.set(Number(name), Number(parent));
    }
  } catch {
    return null;
  }
  const family = new Set([pid]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const [child, parent] of parents) {
      if (family.has(parent) && !family.has(child)) {
        family.add(child);
        grown = true;
      }
    }
  }
  let bytes = 0;
  for (const member of family) {
    const pages = readOrNull(`/proc/${member}/status`)?.match(/^VmRSS:\s+(\d+) kB/m)?.[1];
    bytes += Number(pages ?? 0) * 1_024;
  }
  return bytes;
}

/** A process may end between being listed and being read. */
function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
