/** The floor in C: wrk, where the machine has it, with a new connection for each request. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cpuOfEndedChildren, findCommand } from './process-cpu.ts';

/** What to say where it is not there. */
export const NO_WRK = 'not on this machine: apt-get install wrk';

/** Makes HEAD requests to an address for some seconds, over so many connections at a time. */
export type Wrk = (url: string, seconds: number, open: number) => Promise<{ checks: number; cpuUs: number }>;

/** Null: the machine has none. */
export function findWrk(): Wrk | null {
  const command = findCommand('wrk');
  if (command === null) return null;
  return async (url, seconds, open) => {
    const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-wrk-'));
    const script = join(folder, 'head.lua');
    writeFileSync(script, 'wrk.method = "HEAD"\nwrk.headers["Connection"] = "close"\n');
    const before = cpuOfEndedChildren();
    try {
      const args = ['-t1', `-c${open}`, `-d${seconds}s`, '-s', script, url];
      const { stdout } = await promisify(execFile)(command, args);
      const checks = Number(/(\d+) requests in/.exec(stdout)?.[1] ?? 0);
      if (checks === 0 || /Non-2xx/.test(stdout)) throw new Error(`wrk: ${stdout}`);
      return { checks, cpuUs: cpuOfEndedChildren() - before };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}
