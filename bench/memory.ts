/**
 * The memory of a service: `node bench/memory.ts`. It runs in a process that has done nothing else, because memory that was
 * freed before is reused and would not be measured.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { targetOf } from '../test/engine/attempt.ts';
import { atMost, type BenchRow, printRows } from './row.ts';
import { openIdleFleet } from './scheduling.ts';

const SERVICES = 50_000;
const INTERVAL_MS = 300_000;

/** Measures the growth of the process for each service, in both threads. */
export async function run(): Promise<readonly BenchRow[]> {
  const fleet = openIdleFleet(INTERVAL_MS);
  await fleet.start([]);
  await wait(1_500);
  const before = process.memoryUsage.rss();
  for (let id = 1; id <= SERVICES; id++)
    fleet.apply({ serviceId: id, target: targetOf(id, { lastCheckedAt: Date.now() }) });
  await wait(4_000);
  const bytes = (process.memoryUsage.rss() - before) / SERVICES;
  await fleet.stop();
  return printRows([atMost(`memory: a service in a fleet of ${SERVICES}`, bytes, 'bytes', 2_048)]);
}

if (import.meta.main) await run();
