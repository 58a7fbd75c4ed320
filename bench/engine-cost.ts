/**
 * The cost of the engine for an attempt that costs nothing: `node bench/engine-cost.ts`. It includes schedule, actor, result,
 * packing and unpacking in one thread, its event loop and the fleet's assignments; then the delay of checks at several rates,
 * and the memory of a service.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '../src/clock.ts';
import type { CheckTarget } from '../src/domain/check-target.ts';
import type { Attempt } from '../src/domain/result.ts';
import { createAssignments } from '../src/engine/fleet/assignments.ts';
import { runHost } from '../src/engine/host/host.ts';
import type { FromHost, HostReport, ToHost } from '../src/engine/protocol.ts';
import { unpackResults } from '../src/engine/result-packing.ts';
import { targetOf } from '../test/engine/attempt.ts';
import { goodAttempt } from '../test/support/attempts.ts';
import { engineSettings } from './services.ts';

const TARGET_US = 15;
const TARGET_P99_MS = 50;
const TARGET_BYTES = 2_048;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

// Memory first, in a heap that has not been used.
const bytes = await measureMemory(50_000);
console.log('engine alone, attempts that cost nothing');
console.log(
  `  50,000 services at rest, host and assignments: ${bytes.toFixed(0)} bytes each (target ${TARGET_BYTES})`,
);
for (const perSecond of [0, 1_000, 5_000, 20_000]) {
  const { cpuUs, cpuMs, p99Ms, checks } = await runAt(perSecond, 4_000);
  const each = checks === 0 ? '' : `, ${cpuUs.toFixed(1)} µs a check (target ${TARGET_US})`;
  const late = `start delay p99 ${p99Ms.toFixed(1)} ms (target ${TARGET_P99_MS})`;
  console.log(
    `${String(Math.round(checks / 4)).padStart(8)} checks/s: ${cpuMs.toFixed(0)} ms CPU a second${each}, ${late}`,
  );
}

/** Runs a host with so many services that it makes `perSecond` checks, and measures it after a warm-up. */
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
  // Every service has had a check, so that its state counts, too.
  await wait(6_000);
  const bytesEach = (used() - before) / services;
  await host.stop();
  return bytesEach;
}

function startHost(intervalMs: number, services: number) {
  const { port1, port2 } = new MessageChannel();
  const assignments = createAssignments(intervalMs);
  const reports: HostReport[] = [];
  let checks = 0;
  port1.on('message', (message: FromHost) => {
    if (message.type === 'report') reports.push(message.report);
    if (message.type !== 'results') return;
    const results = unpackResults(message.packed);
    assignments.take(results);
    checks += results.length;
  });
  const settings = engineSettings({ intervalMs });
  const loopTicks = new SharedArrayBuffer(4);
  const attempt = (target: CheckTarget) => Promise.resolve(attemptOf(target));
  const ended = runHost({ epoch: 1, port: port2, loopTicks, settings, prober: null }, attempt, systemClock);
  for (let first = 1; first <= services; first += 500) {
    const part = Array.from({ length: Math.min(500, services - first + 1) }, (_, index) =>
      targetOf(first + index, { lastCheckedAt: systemClock.now() - intervalMs / 2 }),
    );
    for (const target of part) assignments.put(target);
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

function attemptOf({ memory }: CheckTarget): Attempt {
  const timing = { dnsMs: 0.3, connectMs: 12.5, tlsMs: 25.25, firstByteMs: 31.5, totalMs: 69.5 };
  return goodAttempt({ startedAt: systemClock.now(), responseTimeMs: 70, timing, memory });
}
