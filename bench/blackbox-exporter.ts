/** The peer blackbox_exporter of Prometheus, where the machine has it: in a process of its own, asked as Prometheus asks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Pool } from 'undici';
import { cpuOfProcess, findCommand } from './process-cpu.ts';

/** One at work. */
export interface BlackboxExporter {
  /** Has it check an address by HEAD; the latency that it reports, milliseconds. Rejects where the check failed. */
  probe(url: string): Promise<number>;
  /** CPU time that it has used so far, microseconds, its scrapes included. */
  cpuUs(): number;
  stop(): Promise<void>;
}

/** What to say where it is not there. */
export const NO_BLACKBOX_EXPORTER = 'not on this machine: apt-get install prometheus-blackbox-exporter';

/** Starts it on a free port of the loopback; `open` scrapes at a time. Null: the machine has none. */
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
  throw new Error('blackbox_exporter does not say where it listens');
}
