/**
 * The whole engine in one thread, as benchmarks run it: timing wheel, actor, attempt, packing, unpacking, evaluation, status and
 * sample, without the disks.
 */
import { MessageChannel } from 'node:worker_threads';
import { systemClock } from '../src/clock.ts';
import type { CheckTarget, RunAttempt } from '../src/domain/check-target.ts';
import { type CheckResult, NO_MEMORY } from '../src/domain/result.ts';
import type { Service } from '../src/domain/service.ts';
import { unknownStatus } from '../src/domain/status/current.ts';
import { runHost } from '../src/engine/host/host.ts';
import { type FromHost, packTargets, unpackResults } from '../src/engine/protocol.ts';
import { silentLog } from '../src/log.ts';
import { ResultRecord } from '../src/record/record.ts';
import { packSamples } from '../src/store/samples/encoding.ts';
import { createMemoryStatusStore } from '../src/store/status/memory-status-store.ts';
import { double } from '../test/support/double.ts';
import { engineSettings, makeServices, RECORD_OPTIONS } from './services.ts';

/** Options of {@link openEngine}. */
interface EngineRunOptions {
  readonly onResults?: (results: readonly CheckResult[]) => void;
  /** How results get from the engine to the record; default: at once. `taken` counts those that it has. */
  readonly road?: (record: ResultRecord) => {
    readonly take: (results: readonly CheckResult[]) => void;
    readonly taken: () => number;
  };
}

/** An engine that runs until it is closed, and checks only when it is told to. */
export interface EngineRun {
  /** Checks every target once. All are due at once, so that only work is measured. Resolves when all results are evaluated. */
  checkAll(): Promise<void>;
  close(): Promise<void>;
}

/** Starts an engine, and makes the first check of every target. */
export async function openEngine(
  targets: readonly CheckTarget[],
  runAttempt: RunAttempt,
  concurrency: number,
  { onResults = () => {}, road = directRoad }: EngineRunOptions = {},
): Promise<EngineRun> {
  const record = new ResultRecord({
    registry: double({
      commitUpdates: async (updates) => updates.map(() => ({ kind: 'committed', transition: null })),
      listIncidents: async () => [],
      transitionsAfter: async () => [],
      lastTransition: async () => 0,
    }),
    status: createMemoryStatusStore({ log: silentLog }),
    samples: { append: async (samples) => void packSamples(samples) },
    heartbeats: {
      registry: double({ claimDomain: () => Promise.reject(new Error('no heartbeats here')) }),
      isCatalogueDomain: () => false,
      silenceMs: 600_000,
    },
    ...RECORD_OPTIONS,
  });
  const [model] = makeServices(1);
  if (model === undefined) throw new RangeError('no services');
  await record.load(
    targets.map((target) => ({
      service: serviceOf(model, target),
      current: unknownStatus(target.serviceId),
      memory: NO_MEMORY,
      openIncident: null,
    })),
  );
  const { port1, port2 } = new MessageChannel();
  const { take, taken } = road(record);
  const serviceIds = targets.map(({ serviceId }) => serviceId);
  let left = 0;
  let wanted = 0;
  let done = Promise.withResolvers<void>();
  /** Waits for the results of a check of every target. */
  const awaitAll = async () => {
    await done.promise;
    while (taken() < wanted) await new Promise((resolve) => setTimeout(resolve, 5));
  };
  const begin = () => {
    left = targets.length;
    wanted += targets.length;
    done = Promise.withResolvers<void>();
  };
  port1.on('message', (message: FromHost) => {
    if (message.type === 'ready')
      port1.postMessage({ type: 'assign', services: packTargets(targets), spreadMs: 0, notBefore: [] });
    if (message.type !== 'results') return;
    const results = unpackResults(message.packed);
    take(results);
    onResults(results);
    left -= results.length;
    if (left === 0) done.resolve();
  });
  const settings = engineSettings({ intervalMs: 3_600_000, firstSpreadMs: 0, concurrency });
  const task = { epoch: 1, port: port2, loopTicks: new SharedArrayBuffer(4), settings, prober: null };
  begin();
  const host = runHost(task, runAttempt, systemClock);
  await awaitAll();
  return {
    async checkAll() {
      begin();
      port1.postMessage({ type: 'recheck', serviceIds, spreadMs: 0 });
      await awaitAll();
    },
    async close() {
      port1.postMessage({ type: 'stop' });
      await host;
      await record.stop();
      port1.close();
    },
  };
}

function directRoad(record: ResultRecord) {
  let count = 0;
  return {
    take(results: readonly CheckResult[]) {
      record.takeResults(results);
      count += results.length;
    },
    taken: () => count,
  };
}

function serviceOf(model: Service, { serviceId, revision, domain, check }: CheckTarget): Service {
  return { ...model, id: serviceId, slug: `s${serviceId}`, name: domain, domain, check, revision };
}
