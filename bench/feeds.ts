/**
 * What reading 1,000 status pages every five minutes costs when nothing changed: `node bench/feeds.ts`. Statuspage's
 * two documents each, over HTTPS with a full handshake, answered 304 by another process.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type BenchRow, printRows } from './row.ts';

const LISTENERS = 50;
const FEEDS = 1_000;
const ROUNDS = 3;
const INTERVAL_S = 300;

/** Measures in a process that trusts the test authority. */
export async function run(): Promise<BenchRow[]> {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'feed-server.ts'), String(LISTENERS)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [ports] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const poller = spawn(
    process.execPath,
    [join(import.meta.dirname, 'feed-polls.ts'), ports, String(FEEDS), String(ROUNDS)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: join(import.meta.dirname, '../test/certs/ca.pem') },
    },
  );
  const [line] = (await once(createInterface({ input: poller.stdout }), 'line')) as [string];
  const { cpuMs, polls, failed } = JSON.parse(line) as { cpuMs: number; polls: number; failed: number };
  server.stdin.end();
  if (failed > 0) throw new Error(`${failed} of ${polls} polls failed`);
  const share = ((cpuMs / polls) * FEEDS) / (INTERVAL_S * 1_000);
  const rows: BenchRow[] = [
    {
      name: `feeds: ${FEEDS} unchanged pages every five minutes, share of a core`,
      value: share * 100,
      unit: '%',
      ratio: null,
      target: '< 2 %',
      reached: share < 0.02,
    },
  ];
  printRows(rows);
  return rows;
}

if (import.meta.main) await run();
