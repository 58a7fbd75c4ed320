/**
 * The fleet: all services spread over probe threads, and each thread's services given to its successor when it ends.
 * Runs in the main thread.
 */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { createSupervisor } from '../../actor/supervisor.ts';
import type { Clock } from '../../clock.ts';
import type { CheckTarget } from '../../domain/check-target.ts';
import type { CheckResult } from '../../domain/result.ts';
import type { Log } from '../../log.ts';
import type { EngineSettings, HostReport, ToHost } from '../protocol.ts';
import { unpackResults } from '../result-packing.ts';
import { type HostChild, startHostChild } from './host-child.ts';
import { chooseHost } from './rendezvous.ts';

/** What the fleet needs. */
export interface FleetOptions {
  readonly settings: EngineSettings;
  /** Probe threads, 1 or more. */
  readonly threads: number;
  /** File of the thread's task: its default export runs a host with a HostTask. */
  readonly entry: URL;
  /** Handed to the entry as it is: the settings of the prober. */
  readonly prober: unknown;
  readonly clock: Clock;
  readonly log: Log;
  /** Bound on a thread's heap, bytes; default 1 GiB. */
  readonly memoryLimitBytes?: number;
  readonly onResults: (results: readonly CheckResult[]) => void;
  /** A first attempt failed without an HTTP response, at this time (epoch milliseconds). */
  readonly onDoubt: (failedAt: number) => void;
  /** Threads ended again and again; the fleet has stopped. */
  readonly onFatal: (error: Error) => void;
}

/** How the fleet is doing. */
export interface FleetReport {
  readonly services: number;
  readonly restarts: number;
  /** By number of the host; null: it has not reported yet. */
  readonly hosts: readonly (HostReport | null)[];
  /** Checks ended in all threads since the beginning. */
  readonly checksDone: number;
}

/** The fleet at work. */
export interface Fleet {
  /** Starts the threads and gives them their services; resolves when every thread is ready. */
  start(targets: readonly CheckTarget[]): Promise<void>;
  /** Adds, changes or (target null) removes a service; idempotent by revision. */
  apply(change: { readonly serviceId: number; readonly target: CheckTarget | null }): void;
  /** Checks these services again soon, spread over `spreadMs`. */
  recheck(serviceIds: readonly number[], spreadMs: number): void;
  report(): FleetReport;
  /** Attempts in flight may end; then the threads do. */
  stop(): Promise<void>;
}

/** More restarts than this within the window are not mended by another. */
const INTENSITY = { restarts: 10, withinMs: 60_000 };
/** Time for an attempt in flight to end beyond its time-out. */
const GRACE_MS = 1_000;
/** The program ends within 15 s of a signal; the rest is for the stores. */
const LONGEST_STOP_MS = 11_000;
/** Services that are added to a running fleet are checked soon: this long each, as far as the first spread allows. */
const SPREAD_PER_SERVICE_MS = 20;
const DEFAULT_MEMORY_LIMIT_BYTES = 1_073_741_824;
const MIB = 1_048_576;

/** Makes a fleet; nothing runs before `start`. */
export function createFleet(options: FleetOptions): Fleet {
  const { settings, threads, clock, log } = options;
  const memoryLimitBytes = options.memoryLimitBytes ?? DEFAULT_MEMORY_LIMIT_BYTES;
  const targets = new Map<number, CheckTarget>();
  const hosts: (HostChild | null)[] = Array.from({ length: threads }, () => null);
  const reports: (HostReport | null)[] = hosts.map(() => null);
  const doneBefore: number[] = hosts.map(() => 0);
  const allReady = Promise.withResolvers<void>();
  const waitingFor = new Set(hosts.keys());
  let epoch = 0;

  const pool = new Piscina({
    filename: fileURLToPath(options.entry),
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: 0,
    atomics: 'disabled',
    resourceLimits: { maxOldGenerationSizeMb: Math.ceil(memoryLimitBytes / MIB) },
  });
  pool.on('error', (error: Error) =>
    log.error({ problem: error.message }, 'a probe thread failed outside its task'),
  );

  const servicesOf = (host: number) =>
    [...targets.values()].filter(({ serviceId }) => chooseHost(serviceId, threads) === host);

  const launch = (host: number) => {
    const child = startHostChild({
      pool,
      epoch: ++epoch,
      settings,
      prober: options.prober,
      clock,
      memoryLimitBytes,
      onReady() {
        child.send({ type: 'assign', services: servicesOf(host), spreadMs: settings.firstSpreadMs });
        waitingFor.delete(host);
        if (waitingFor.size === 0) allReady.resolve();
      },
      onMessage(message) {
        if (message.type === 'results') take(unpackResults(message.packed));
        else if (message.type === 'doubt') options.onDoubt(message.failedAt);
        else reports[host] = message.report;
      },
      onRecycle({ heapBytes, externalBytes }) {
        log.warn({ host, heapBytes, externalBytes }, 'a probe thread has grown too large and is replaced');
      },
    });
    hosts[host] = child;
    return child;
  };

  const take = (results: readonly CheckResult[]) => {
    for (const { serviceId, revision, startedAt, memory } of results) {
      const target = targets.get(serviceId);
      if (target !== undefined && target.revision === revision) {
        targets.set(serviceId, { ...target, memory, lastCheckedAt: startedAt });
      }
    }
    options.onResults(results);
  };

  const supervisor = createSupervisor({
    children: [...hosts.keys()].map((host) => ({
      id: `probe thread ${host}`,
      restart: 'permanent',
      shutdownMs: Math.min(LONGEST_STOP_MS, settings.timeoutMs + GRACE_MS),
      start: () => launch(host),
    })),
    intensity: INTENSITY,
    clock,
    onRestart(id, { kind, error }) {
      const host = Number(id.split(' ').at(-1));
      doneBefore[host] = (doneBefore[host] ?? 0) + (reports[host]?.checksDone ?? 0);
      reports[host] = null;
      hosts[host] = null;
      log.warn({ ended: kind, problem: error?.message }, `${id} is replaced`);
    },
    onGiveUp: options.onFatal,
  });

  const send = (serviceId: number, message: ToHost) => hosts[chooseHost(serviceId, threads)]?.send(message);

  return {
    start(first) {
      for (const target of first) targets.set(target.serviceId, target);
      supervisor.start();
      return allReady.promise;
    },
    apply({ serviceId, target }) {
      if (target === null) {
        if (targets.delete(serviceId)) send(serviceId, { type: 'remove', serviceIds: [serviceId] });
        return;
      }
      const known = targets.get(serviceId);
      if (known !== undefined && known.revision >= target.revision) return;
      targets.set(serviceId, target);
      const spreadMs = Math.min(settings.firstSpreadMs, SPREAD_PER_SERVICE_MS);
      send(serviceId, { type: 'assign', services: [target], spreadMs });
    },
    recheck(serviceIds, spreadMs) {
      for (const [host, child] of hosts.entries()) {
        const own = serviceIds.filter((serviceId) => chooseHost(serviceId, threads) === host);
        if (own.length > 0) child?.send({ type: 'recheck', serviceIds: own, spreadMs });
      }
    },
    report() {
      const done = reports.map((report, host) => (doneBefore[host] ?? 0) + (report?.checksDone ?? 0));
      return {
        services: targets.size,
        restarts: supervisor.restarts,
        hosts: [...reports],
        checksDone: done.reduce((sum, count) => sum + count, 0),
      };
    },
    async stop() {
      // All at once, so that their attempts end side by side; the supervisor then waits for each in turn.
      for (const child of hosts) child?.ask();
      await supervisor.stop();
      await pool.destroy();
    },
  };
}
