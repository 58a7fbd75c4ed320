/**
 * The memory of a service and of its status: `node bench/memory.ts`. It runs in a process that has done nothing else, because memory that was
 * freed before is reused and would not be measured.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NO_MEMORY } from '../src/domain/result.ts';
import type { Service } from '../src/domain/service.ts';
import type { CurrentStatus, LatestCheck } from '../src/domain/status/current.ts';
import { StatusTable } from '../src/domain/status/status-table.ts';
import { silentLog } from '../src/log.ts';
import { ResultRecord } from '../src/record/record.ts';
import type { ServiceState } from '../src/store/ports/services.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { createServiceDirectory } from '../src/view/service-directory.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { double } from '../test/support/double.ts';
import { startHelper } from './child.ts';
import { atMost, type BenchRow, floor, printRows } from './row.ts';
import { openIdleFleet } from './scheduling.ts';
import { makeServices, NO_HEARTBEATS, RECORD_OPTIONS } from './services.ts';

const SERVICES = 50_000;
const INTERVAL_MS = 300_000;
const PAGE = 5_000;
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
    atMost('memory: a status in three regions', await growthApart('status', 3), 'bytes', 400),
    floor('memory: a status in 30 regions', await growthApart('status', 30), 'bytes'),
    atMost('memory: a service of a judge, three regions', await growthApart('judge', 3), 'bytes', 1_600),
    floor('memory: a service of a judge, 30 regions', await growthApart('judge', 30), 'bytes'),
  ]);
}

/** What can be measured in a process apart. */
const FILLS = { status: fillTable, judge: fillJudge };

async function growthApart(what: keyof typeof FILLS, regions: number): Promise<number> {
  const helper = await startHelper<number>('memory.ts', [what, regions]);
  helper.stop();
  return helper.line;
}

/** The memory that `fill` leaves behind, for each service. What it resolves with is kept meanwhile. */
async function growth(fill: () => Promise<unknown>): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const kept = await fill();
  const bytes = (used() - before) / SERVICES;
  return kept === null ? Number.NaN : bytes;
}

/** What a judge of a cluster holds of services: definitions in the directory, records, and statuses, recorded and published. */
async function fillJudge(regions: readonly string[]): Promise<unknown> {
  const directory = createServiceDirectory();
  const record = new ResultRecord({
    ...RECORD_OPTIONS,
    status: createMemoryStatusStore({ log: silentLog }),
    registry: double({ lastTransition: async () => 0 }),
    samples: { append: async () => {} },
    heartbeats: NO_HEARTBEATS,
  });
  const services: Service[] = [];
  await record.loadPages(pagesOf(regions, services));
  await directory.loadInParts(services);
  return { record, directory };
}

/** Pages of services as they come from the registry. Their definitions are added to `services`. */
function* pagesOf(regions: readonly string[], services: Service[]): Generator<ServiceState[]> {
  for (let from = 1; from <= SERVICES; from += PAGE) {
    const page = makeServices(PAGE, from).map((service): ServiceState => {
      const check = { ...service.check, url: `https://${service.domain}/health` };
      services.push({ ...service, check });
      const current = statusInRegions(service.id, regions);
      return { service: { ...service, check }, current, memory: NO_MEMORY, openIncident: null };
    });
    yield page;
  }
}

/** What judges and serving nodes hold of current statuses, in rows of numbers. */
async function fillTable(regions: readonly string[]): Promise<unknown> {
  const table = new StatusTable();
  for (let serviceId = 1; serviceId <= SERVICES; serviceId++) table.set(statusInRegions(serviceId, regions));
  return table;
}

function statusInRegions(serviceId: number, names: readonly string[]): CurrentStatus {
  const checkOf = (index: number): LatestCheck => ({
    ...{ status: 'up', responseTimeMs: 40 + index, statusCode: 200, checkedAt: START + serviceId + index },
    ...{ source: 'root', reported: null, failure: null, blocked: false, certificateExpiresAt: null },
    timing: { dnsMs: 0.1, connectMs: 1.2, tlsMs: 12.1, firstByteMs: serviceId / 7, totalMs: serviceId / 3 },
  });
  const regions = names.map((region, index) => {
    const check = checkOf(index);
    return { region, check, since: START, observedAt: check.checkedAt, votes: true };
  });
  return {
    ...{ serviceId, seq: 1, observedAt: START + serviceId, status: 'up', since: START, scope: null, regions },
    latest: regions[0]?.check ?? null,
  };
}

if (import.meta.main) {
  const [what, regions] = process.argv.slice(2);
  const names = Array.from({ length: Number(regions) }, (_, index) => `region-${index}`);
  if (what === undefined) await run();
  else console.log(await growth(() => FILLS[what as keyof typeof FILLS](names)));
}
