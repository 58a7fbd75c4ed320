/** Floors and peers in other programs, if they are installed: wrk in C, and Prometheus' blackbox_exporter. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Pool } from 'undici';

/** The unit of a row without wrk. */
export const NO_WRK = 'not on this machine: apt-get install wrk';
/** The unit of a row without blackbox_exporter. */
export const NO_BLACKBOX_EXPORTER = 'not on this machine: apt-get install prometheus-blackbox-exporter';

/** Sends HEAD requests for some seconds over a number of connections at a time, a new one for each request. */
export type Wrk = (url: string, seconds: number, open: number) => Promise<{ checks: number; cpuUs: number }>;

/** Null: wrk is not installed. */
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

/** A running blackbox_exporter. */
export interface BlackboxExporter {
  /** Checks an address by HEAD, as Prometheus does; returns the reported latency, milliseconds. Rejects if it fails. */
  probe(url: string): Promise<number>;
  /** CPU time that it has used so far, microseconds, including its scrapes. */
  cpuUs(): number;
  stop(): Promise<void>;
}

/** Starts it on a free port of the loopback interface; `open`: scrapes at a time. Null: it is not installed. */
export async function startBlackboxExporter(caFile: string, open: number): Promise<BlackboxExporter | null> {
  const command = findCommand('prometheus-blackbox-exporter') ?? findCommand('blackbox_exporter');
  if (command === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'upbeat-bench-blackbox-'));
  const config = join(folder, 'blackbox.yml');
  writeFileSync(
    config,
    `modules:\n  head:\n    prober: http\n    http:\n      method: HEAD\n      tls_config:\n        ca_file: ${JSON.stringify(caFile)}\n`,
  );
  const child = spawn(command, [`--config.file=${config}`, '--web.listen-address=127.0.0.1:0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} cannot be started`);
  const port = await readPort(createInterface({ input: child.stderr }));
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: open });
  return {
    async probe(url) {
      const path = `/probe?module=head&target=${encodeURIComponent(url)}`;
      const { body } = await pool.request({ path, method: 'GET' });
      const text = await body.text();
      if (!/^probe_success 1$/m.test(text)) throw new Error(`blackbox_exporter could not check ${url}`);
      // The phases of the request: its own total also counts its preparations.
      const phases = text.matchAll(/^probe_http_duration_seconds\{phase="\w+"\} (\S+)$/gm);
      return [...phases].reduce((sum, [, seconds]) => sum + Number(seconds) * 1_000, 0);
    },
    cpuUs: () => cpuOfProcess(pid),
    async stop() {
      await pool.close();
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true });
    },
  };
}

async function readPort(lines: AsyncIterable<string>): Promise<string> {
  for await (const line of lines) {
    const port = /address=127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error('blackbox_exporter does not print its address');
}

/** The kernel counts in hundredths of a second (`USER_HZ`, the same on every Linux that Node supports). */
const TICK_US = 10_000;

/** CPU time of a process, microseconds. Throws if it does not exist, or without `/proc`. */
function cpuOfProcess(pid: number): number {
  const [user, system] = readTimes(pid);
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

/** CPU time of the ended children of this process, microseconds. Throws without `/proc`. */
export function cpuOfEndedChildren(): number {
  const [, , user, system] = readTimes('self');
  return ((user ?? 0) + (system ?? 0)) * TICK_US;
}

/** utime, stime, cutime and cstime of proc(5); the name before them may contain spaces. */
function readTimes(pid: number | 'self'): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
}

/** The path of a command whose CPU time can be measured; null: it is not installed. */
function findCommand(name: string): string | null {
  if (process.platform !== 'linux') return null;
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // Not in this folder.
    }
  }
  return null;
}
