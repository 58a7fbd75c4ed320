/**
 * The whole way of a check in one thread: timing wheel, actor, attempt, packing, unpacking, judgement, status, sample;
 * only the disks are left out. The services are all due at once, so that nothing but work is measured.
 */
import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '../src/clock.ts';
import type { CheckTarget, RunAttempt } from '../src/domain/check-target.ts';
import { unknownStatus } from '../src/domain/current.ts';
import { type CheckResult, NO_MEMORY } from '../src/domain/result.ts';
import { DEFAULT_CHECK, type Service } from '../src/domain/service.ts';
import { runHost } from '../src/engine/host/host.ts';
import type { FromHost } from '../src/engine/protocol.ts';
import { unpackResults } from '../src/engine/result-packing.ts';
import { silentLog } from '../src/log.ts';
import { createRecord } from '../src/record/record.ts';
import { packSamples } from '../src/store/samples/encoding.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';

/** Checks every target once; resolves when all results are judged. */
export async function checkThroughEngine(
  targets: readonly CheckTarget[],
  runAttempt: RunAttempt,
  concurrency: number,
  onResults: (results: readonly CheckResult[]) => void = () => {},
): Promise<void> {
  const record = createRecord({
    registry: {
      commitUpdates: async (judgements) => judgements.map(() => ({ kind: 'committed', transition: null })),
      listIncidents: async () => [],
      transitionsAfter: async () => [],
      lastTransition: async () => 0,
    },
    status: createMemoryStatusStore({ log: silentLog }),
    samples: { append: async (samples) => void packSamples(samples) },
    clock: systemClock,
    log: silentLog,
    settings: { slowOverMs: 3_000, firstSpreadMs: 0, controlTargets: 1 },
    heartbeats: {
      registry: { claimDomain: () => Promise.reject(new Error('no heartbeats here')) },
      isCatalogueDomain: () => false,
      silenceMs: 600_000,
    },
    askControlTargets: async () => true,
    onRecheck() {},
    sourceUrl: () => '',
    isInMaintenance: () => false,
  });
  await record.load(
    targets.map((target) => ({
      service: serviceOf(target),
      current: unknownStatus(target.serviceId),
      memory: NO_MEMORY,
      openIncident: null,
    })),
  );
  const { port1, port2 } = new MessageChannel();
  const done = Promise.withResolvers<void>();
  let left = targets.length;
  port1.on('message', (message: FromHost) => {
    if (message.type === 'ready') port1.postMessage({ type: 'assign', services: targets, spreadMs: 0 });
    if (message.type !== 'results') return;
    const results = unpackResults(message.packed);
    record.takeResults(results);
    onResults(results);
    left -= results.length;
    if (left === 0) done.resolve();
  });
  const settings = {
    intervalMs: 3_600_000,
    timeoutMs: 10_000,
    slowOverMs: 3_000,
    confirmAfterMs: [2_000, 4_000],
    firstSpreadMs: 0,
    concurrency,
  };
  const task = { epoch: 1, port: port2, loopTicks: new SharedArrayBuffer(4), settings, prober: null };
  const host = runHost(task, runAttempt, systemClock);
  await done.promise;
  port1.postMessage({ type: 'stop' });
  await host;
  await record.stop();
  port1.close();
}

function serviceOf({ serviceId, revision, domain, check }: CheckTarget): Service {
  return {
    id: serviceId,
    slug: `s${serviceId}`,
    name: domain,
    domain,
    category: 'developer',
    origin: 'catalogue',
    accountId: null,
    verified: true,
    paused: false,
    check: { ...DEFAULT_CHECK, ...check },
    statusPage: null,
    revision,
  };
}
