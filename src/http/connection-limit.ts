/** How many connections the server may hold, so that descriptors are left for files, checks and messages. */
import { readFileSync } from 'node:fs';

/** The part of the descriptors that clients may take. */
const CLIENTS_PART = 0.75;

/**
 * The number of connections for a process with the limits of `/proc/self/limits` (proc(5)): three quarters of its open files. Infinite: there is
 * no limit, or none that can be read.
 */
export function connectionLimitOf(limits: string): number {
  const [, soft = ''] = /^Max open files +(\d+|unlimited) /m.exec(limits) ?? [];
  return soft === '' || soft === 'unlimited'
    ? Number.POSITIVE_INFINITY
    : Math.floor(Number(soft) * CLIENTS_PART);
}

/** The number of connections for this process. */
export function readConnectionLimit(): number {
  try {
    return connectionLimitOf(readFileSync('/proc/self/limits', 'utf8'));
  } catch {
    // There is no such file on other systems than Linux.
    return Number.POSITIVE_INFINITY;
  }
}
