/**
 * What the engine adds to an attempt, with one that costs nothing: `node bench/engine-cost.ts`. Schedule, actor,
 * result, packing and unpacking in one thread, its event loop and the fleet's book included; then how late checks
 * begin at 1,000 a second, and what a service takes in memory.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '../src/clock.ts';
import type { CheckTarget } from '../src/domain/check-target.ts';
import { type Attempt, NO_MEMORY, type Timing } from '../src/domain/result.ts';
import { DEFAULT_CHECK } from '../src/domain/service.ts';
import { createAssignments } from '../src/engine/fleet/assignments.ts';
import { runHost } from '../src/engine/host/host.ts';
import type { FromHost, HostReport, ToHost } from '../src/engine/protocol.ts';
import { unpackResults } from '../src/engine/result-packing.ts';

const TARGET_US = 15;
const TARGET_P99_MS = 50;
const TARGET_BYTES = 2_048;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// Memory first, in a heap that nothing else has used.
const bytes = await measureMemory(50_000);
console.log('engine alone, attempts that cost nothing');
console.log(
  `  50,000 services at rest, host and book: ${bytes.toFixed(0)} bytes each (target ${TARGET_BYTES})`,
);
for (const perSecond of [0, 1_000, 5_000, 20_000]) {
  const { cpuUs, cpuMs, p99Ms, checks } = await runAt(perSecond, 4_000);
  const each = checks === 0 ? '' : `, ${cpuUs.toFixed(1)} µs a check (target ${TARGET_US})`;
  const late = `start delay p99 ${p99Ms.toFixed(1)} ms (target ${TARGET_P99_MS})`;
  console.log(
    `${String(Math.round(checks / 4)).padStart(8)} checks/s: ${cpuMs.toFixed(0)} ms CPU a second${each}, ${late}`,
  );
}

/** Runs a host with so many services that it makes `perSecond` checks, for a while after a start that does not count. */
async function runAt(perSecond: number, forMs: number) {
  const host = startHost(10_000, perSecond * 10);
  await wait(4_000);
  const [cpu, before] = [process.cpuUsage(), host.checks];
  host.reports.length = 0;
  await wait(forMs);
  const { user, system } = process.cpuUsage(cpu);
  const checks = host.checks - before;
  const p99Ms = Math.max(...host.reports.map(({ startDelayMs }) => startDelayMs.p99));
  await host.stop();
  const cpuUs = (user + system) / checks;
  return { cpuUs, cpuMs: (user + system) / forMs, p99Ms, checks };
}

async function measureMemory(services: number): Promise<number> {
  const used = () => {
    collect();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const host = startHost(5_000, services);
  // Every service has had a check, so that what one leaves behind counts too.
  await wait(6_000);
  const bytesEach = (used() - before) / services;
  await host.stop();
  return bytesEach;
}

function startHost(intervalMs: number, services: number) {
  const { port1, port2 } = new MessageChannel();
  const book = createAssignments(intervalMs);
  const reports: HostReport[] = [];
  let checks = 0;
  port1.on('message', (message: FromHost) => {
    if (message.type === 'report') reports.push(message.report);
    if (message.type !== 'results') return;
    const results = unpackResults(message.packed);
    book.take(results);
    checks += results.length;
  });
  const settings = {
    intervalMs,
    timeoutMs: 10_000,
    slowOverMs: 3_000,
    confirmAfterMs: [2_000, 4_000],
    firstSpreadMs: intervalMs,
    concurrency: 256,
  };
  const loopTicks = new SharedArrayBuffer(4);
  const attempt = (target: CheckTarget) => Promise.resolve(attemptOf(target));
  const ended = runHost({ epoch: 1, port: port2, loopTicks, settings, prober: null }, attempt, systemClock);
  for (let first = 1; first <= services; first += 500) {
    const part = Array.from({ length: Math.min(500, services - first + 1) }, (_, index) =>
      targetOf(first + index, systemClock.now() - intervalMs / 2),
    );
    for (const target of part) book.put(target);
    const message: ToHost = { type: 'assign', services: part, spreadMs: intervalMs, notBefore: [] };
    port1.postMessage(message);
  }
  return {
    reports,
    get checks() {
      return checks;
    },
    async stop() {
      port1.postMessage({ type: 'stop' } satisfies ToHost);
      await ended;
      port1.close();
    },
  };
}

function targetOf(serviceId: number, lastCheckedAt: number): CheckTarget {
  return {
    serviceId,
    revision: 1,
    domain: `service-${serviceId}.example.com`,
    origin: 'catalogue',
    check: { ...DEFAULT_CHECK },
    memory: NO_MEMORY,
    lastCheckedAt,
  };
}

function attemptOf({ memory }: CheckTarget): Attempt {
  const timing: Timing = { dnsMs: 0.3, connectMs: 12.5, tlsMs: 25.25, firstByteMs: 31.5, totalMs: 69.5 };
  return {
    startedAt: systemClock.now(),
    statusCode: 204,
    responseTimeMs: 70,
    timing,
    failure: null,
    reported: null,
    reportedWord: null,
    blocked: false,
    via: 'root',
    certificateExpiresAt: 1_800_000_000_000,
    retryAfterMs: null,
    suspect: null,
    lostMs: 0,
    headUnproven: false,
    memory,
  };
}
