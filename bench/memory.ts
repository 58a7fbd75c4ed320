/**
 * The memory of a service and of its status: `node bench/memory.ts`. It runs in a process that has done nothing else, because memory that was
 * freed before is reused and would not be measured.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CurrentStatus, LatestCheck } from '../src/domain/status/current.ts';
import { StatusTable } from '../src/domain/status/status-table.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { atMost, type BenchRow, printRows } from './row.ts';
import { openIdleFleet } from './scheduling.ts';

const SERVICES = 50_000;
const INTERVAL_MS = 300_000;
const START = Date.UTC(2026, 0, 1);

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
  return printRows([
    atMost(`memory: a service in a fleet of ${SERVICES}`, bytes, 'bytes', 2_048),
    atMost('memory: a status in three regions', bytesOfStatus(), 'bytes', 400),
  ]);
}

/** What judges and serving nodes hold of a service's current status, in rows of numbers. */
function bytesOfStatus(): number {
  const table = new StatusTable();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  for (let serviceId = 1; serviceId <= SERVICES; serviceId++) table.set(statusInRegions(serviceId));
  const after = used();
  if (table.size !== SERVICES) throw new Error('the statuses are gone');
  return (after - before) / SERVICES;
}

function statusInRegions(serviceId: number): CurrentStatus {
  const checkOf = (index: number): LatestCheck => ({
    ...{ status: 'up', responseTimeMs: 40 + index, statusCode: 200, checkedAt: START + serviceId + index },
    ...{ source: 'root', reported: null, failure: null, blocked: false, certificateExpiresAt: null },
    timing: { dnsMs: 0.1, connectMs: 1.2, tlsMs: 12.1, firstByteMs: serviceId / 7, totalMs: serviceId / 3 },
  });
  const regions = ['ap', 'eu', 'us'].map((region, index) => {
    const check = checkOf(index);
    return { region, check, since: START, observedAt: check.checkedAt, votes: true };
  });
  return {
    ...{ serviceId, seq: 1, observedAt: START + serviceId, status: 'up', since: START, scope: null, regions },
    latest: regions[0]?.check ?? null,
  };
}

if (import.meta.main) await run();
