/**
 * What a service costs in memory: `node bench/memory.ts`, in a process that has done nothing else, for memory that others
 * have given back is used again and would not be seen.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { targetOf } from '../test/engine/attempt.ts';
import { openIdleFleet } from './idle-fleet.ts';
import { type BenchRow, printRows } from './row.ts';

const SERVICES = 50_000;
const INTERVAL_MS = 300_000;
const MAX_BYTES = 2_048;

/** Measures what the process grows by for each service: both threads, every structure. */
export async function run(): Promise<BenchRow[]> {
  const fleet = openIdleFleet(INTERVAL_MS);
  await fleet.start([]);
  await wait(1_500);
  const before = process.memoryUsage.rss();
  for (let id = 1; id <= SERVICES; id++)
    fleet.apply({ serviceId: id, target: targetOf(id, { lastCheckedAt: Date.now() }) });
  await wait(4_000);
  const bytes = (process.memoryUsage.rss() - before) / SERVICES;
  await fleet.stop();
  const rows: BenchRow[] = [
    {
      name: `memory: a service in a fleet of ${SERVICES}`,
      value: bytes,
      unit: 'bytes',
      ratio: null,
      target: `<= ${MAX_BYTES}`,
      reached: bytes <= MAX_BYTES,
    },
  ];
  printRows(rows);
  return rows;
}

if (import.meta.main) await run();
