/** The fleet: all services spread over probe threads. The successor of a thread takes over its services. */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { createSupervisor } from '../../actor/supervisor.ts';
import { createBackoff } from '../../async/retry.ts';
import type { Clock } from '../../clock.ts';
import type { CheckTarget } from '../../domain/check-target.ts';
import { timingOf } from '../../domain/check-timing.ts';
import type { UnreadableCredentials } from '../../domain/credential-seal.ts';
import type { CheckResult } from '../../domain/result.ts';
import type { Log } from '../../log.ts';
import { SMALL_YOUNG_MB } from '../../thread/supervised-thread.ts';
import { dueAfterCheck, shiftOf } from '../host/phase.ts';
import {
  type BrokenAttempt,
  type EngineSettings,
  type ForbiddenTarget,
  type HostReport,
  unpackResults,
} from '../protocol.ts';
import { packTargets } from '../target-packing.ts';
import { type AssignFlow, createAssignFlow } from './assign-flow.ts';
import { chooseHost, createAssignments } from './assignments.ts';
import { type HostChild, startHostChild } from './host-child.ts';

/** Options of the fleet. */
export interface FleetOptions {
  readonly settings: EngineSettings;
  /** Probe threads, 1 or more. */
  readonly threads: number;
  /** File of the thread's task: its default export runs a host with a HostTask. */
  readonly entry: URL;
  /** Passed to the entry unchanged: the settings of the prober. */
  readonly prober: unknown;
  /** Until when attempts may be started (`start-permit.ts`); absent: always. */
  readonly startPermit?: SharedArrayBuffer;
  readonly clock: Clock;
  readonly log: Log;
  /** Limit of a thread's heap, bytes; default 1 GiB. */
  readonly memoryLimitBytes?: number;
  /** True: the threads make few checks, so that their young generations are kept small. Default: false. */
  readonly isQuiet?: boolean;
  readonly onResults: (results: readonly CheckResult[]) => void;
  /** A first attempt failed without an HTTP response, at this time (epoch milliseconds). */
  readonly onDoubt: (failedAt: number) => void;
  /** An attempt has waited so long for its response that it may become slow. */
  readonly onDelay: () => void;
  /** Called when a name resolves to a forbidden address. Absent: not reported. */
  readonly onForbidden?: (found: ForbiddenTarget) => void;
  /** Called for each attempt whose credentials cannot be decrypted. Absent: not reported. */
  readonly onUnreadable?: (found: UnreadableCredentials) => void;
  /** Called for attempts that wait, because their address has as many connections as it may. Absent: not reported. */
  readonly onBusy?: (address: string) => void;
  /** Called for each attempt that met a bug of this program. Absent: not reported. */
  readonly onBroken?: (found: BrokenAttempt) => void;
  /** Threads crashed again and again; the fleet has stopped. */
  readonly onFatal: (error: Error) => void;
}

/** State of the fleet. */
interface FleetReport {
  readonly services: number;
  readonly restarts: number;
  /** By number of the host; null: it has not reported yet. */
  readonly hosts: readonly (HostReport | null)[];
  /** Checks completed in all threads since the start. */
  readonly checksDone: number;
  /** Services whose credentials could not be decrypted of late; absent: none. */
  readonly unreadableCredentials?: number;
}

/** A fleet. */
export interface Fleet {
  /**
   * Starts the threads and assigns them the services. Resolves when every thread has its own, or the fleet was stopped;
   * rejects with the error that `onFatal` gets. Changes that were applied before take precedence.
   */
  start(targets: Iterable<CheckTarget>): Promise<void>;
  /**
   * Adds, changes or (target null) removes a service; idempotent by revision. A change that leaves the check the same keeps
   * the probe memory; remove and add the service to reset it. A service with a new check is checked soon.
   */
  apply(change: { readonly serviceId: number; readonly target: CheckTarget | null }): void;
  /**
   * Adds services that another process has checked until now. One that was due since its last check is checked within a few
   * seconds, one that was never checked within `firstSpreadMs`.
   */
  takeOver(targets: readonly CheckTarget[]): void;
  /**
   * Shifts the phases of all services, from 0 to the interval of the settings; services with an interval of their own by the
   * same part of it. A change must be less than half of the interval.
   */
  shiftPhases(phaseShiftMs: number): void;
  /** Checks these services again soon, spread over `spreadMs`, but not before the time that a 429 has set. */
  recheck(serviceIds: readonly number[], spreadMs: number): void;
  /** How to check a service; undefined: the fleet does not have it. */
  targetOf(serviceId: number): CheckTarget | undefined;
  report(): FleetReport;
  /**
   * Stops the threads after their attempts in flight. Attempts that take longer than `withinMs` are given up; default: the
   * longest timeout of an attempt and one second, at most 11 s.
   */
  stop(withinMs?: number): Promise<void>;
}

/** After more restarts than this the fleet gives up. */
const INTENSITY = { restarts: 10, withinMs: 60_000 };
/** Time for an attempt in flight to end after its timeout. */
const GRACE_MS = 1_000;
/** The program ends within 15 s of a signal; the remaining time is for the stores. */
const STOP_TIMEOUT_MS = 11_000;
/** Deadlines for a thread to become ready, milliseconds. A replacement must work within 6 s of the fault. */
const READY_TIMEOUT_MS = { first: 5_000, replacement: 2_000, longest: 10_000 };
/** Checks of a few services are spread over this time each, up to the first spread. */
const SPREAD_PER_SERVICE_MS = 20;
/** Checks that a predecessor has missed are made up for within this time, milliseconds. */
const TAKE_OVER_SPREAD_MS = 5_000;
/** Changes within this time, such as those of a reloaded catalogue, are sent together, milliseconds. */
const BATCH_MS = 50;
const DEFAULT_MEMORY_LIMIT_BYTES = 1_073_741_824;
const MIB = 1_048_576;

/** Creates a fleet; nothing runs before `start`. */
export function createFleet(options: FleetOptions): Fleet {
  const { settings, threads, clock, log } = options;
  const { firstSpreadMs } = settings;
  const memoryLimitBytes = options.memoryLimitBytes ?? DEFAULT_MEMORY_LIMIT_BYTES;
  const assignments = createAssignments(settings);
  const hosts: (HostChild | null)[] = Array.from({ length: threads }, () => null);
  /** The assignments to the thread of each host. */
  const flows: (AssignFlow | null)[] = hosts.map(() => null);
  const reports: (HostReport | null)[] = hosts.map(() => null);
  const doneBefore: number[] = hosts.map(() => 0);
  /** Ready timeouts of replacements, by host; null: it has not been replaced yet. */
  const readyTimeouts: (ReturnType<typeof createBackoff> | null)[] = hosts.map(() => null);
  const allReady = Promise.withResolvers<void>();
  const waitingFor = new Set(hosts.keys());
  /** Removed before the start; null: it has started. */
  let removedEarly: Set<number> | null = new Set();
  let changed = new Set<number>();
  let phaseShiftMs = 0;
  let cancelBatch: (() => void) | null = null;
  let epoch = 0;

  const pool = new Piscina({
    filename: fileURLToPath(options.entry),
    minThreads: threads,
    maxThreads: threads,
    concurrentTasksPerWorker: 1,
    idleTimeout: 0,
    atomics: 'disabled',
    resourceLimits: {
      maxOldGenerationSizeMb: Math.ceil(memoryLimitBytes / MIB),
      ...(options.isQuiet === true ? { maxYoungGenerationSizeMb: SMALL_YOUNG_MB } : {}),
    },
  });
  pool.on('error', (error: Error) =>
    log.error({ problem: error.message }, 'a probe thread failed outside its task'),
  );

  const hostOf = (serviceId: number) => chooseHost(serviceId, threads);
  const soonMs = (services: number) => Math.min(firstSpreadMs, services * SPREAD_PER_SERVICE_MS);

  const launch = (host: number) => {
    const timeouts = readyTimeouts[host] ?? null;
    const child = startHostChild({
      pool,
      epoch: ++epoch,
      settings,
      prober: options.prober,
      startPermit: options.startPermit,
      clock,
      readyTimeoutMs: timeouts?.pauseMs ?? READY_TIMEOUT_MS.first,
      memoryLimitBytes,
      onReady() {
        if (phaseShiftMs !== 0) child.send({ type: 'shift', phaseShiftMs });
        const own = [...assignments.serviceIds()].filter((serviceId) => hostOf(serviceId) === host);
        const spreadMs = timeouts === null ? firstSpreadMs : soonMs(countOverdue(own));
        flow.assign(own, spreadMs, () => {
          waitingFor.delete(host);
          if (waitingFor.size === 0) allReady.resolve();
        });
      },
      onMessage(message) {
        if (message.type === 'assigned') flow.confirm();
        else if (message.type === 'results') take(unpackResults(message.packed));
        else if (message.type === 'doubt') options.onDoubt(message.failedAt);
        else if (message.type === 'delay') options.onDelay();
        else if (message.type === 'forbidden') options.onForbidden?.(message.found);
        else if (message.type === 'unreadable') options.onUnreadable?.(message.found);
        else if (message.type === 'broken') options.onBroken?.(message.found);
        else if (message.type === 'busy') options.onBusy?.(message.address);
        else reports[host] = message.report;
      },
      onRecycle({ heapBytes, externalBytes }) {
        log.warn(
          { host, heapBytes, externalBytes },
          'a probe thread exceeded its memory limit and is replaced',
        );
      },
    });
    const flow = createAssignFlow((serviceIds, spreadMs) => {
      const services = packTargets(serviceIds.flatMap((serviceId) => assignments.get(serviceId) ?? []));
      const notBefore = assignments.notBefore(serviceIds);
      child.send({ type: 'assign', services, spreadMs, notBefore }, [services.numbers.buffer]);
    });
    hosts[host] = child;
    flows[host] = flow;
    return child;
  };

  const countOverdue = (serviceIds: readonly number[]) => {
    const now = clock.now();
    const isOverdue = (target: CheckTarget | undefined) =>
      target === undefined ||
      (target.lastCheckedAt ?? 0) <= now - timingOf(target.check, settings).intervalMs;
    return serviceIds.filter((serviceId) => isOverdue(assignments.get(serviceId))).length;
  };

  const take = (results: readonly CheckResult[]) => {
    assignments.take(results);
    options.onResults(results);
  };

  const handleExit = (host: number, { kind, error }: { readonly kind: string; readonly error?: Error }) => {
    const child = hosts[host];
    const inFlight = kind === 'crash' || kind === 'killed' ? (child?.inFlight() ?? []) : [];
    assignments.postpone(inFlight, child?.epoch ?? 0, clock.now());
    const timeouts =
      readyTimeouts[host] ?? createBackoff(READY_TIMEOUT_MS.replacement, READY_TIMEOUT_MS.longest);
    readyTimeouts[host] = timeouts;
    if (child?.wasReady) timeouts.reset();
    else timeouts.next();
    doneBefore[host] = (doneBefore[host] ?? 0) + (reports[host]?.checksDone ?? 0);
    reports[host] = null;
    hosts[host] = null;
    flows[host] = null;
    log.warn({ host, ended: kind, problem: error?.message, inFlight }, 'a probe thread is replaced');
  };

  const nameOf = (host: number) => `probe thread ${host}`;
  const shutdownMs = () => Math.min(STOP_TIMEOUT_MS, assignments.longestTimeoutMs() + GRACE_MS);
  const supervisor = createSupervisor({
    children: [...hosts.keys()].map((host) => ({
      id: nameOf(host),
      restart: 'permanent',
      // The fleet ends the threads itself when their attempts take too long.
      shutdownMs: STOP_TIMEOUT_MS,
      start: () => launch(host),
    })),
    intensity: INTENSITY,
    clock,
    onRestart: (id, reason) =>
      handleExit(
        [...hosts.keys()].findIndex((host) => nameOf(host) === id),
        reason,
      ),
    onGiveUp(error) {
      allReady.reject(error);
      options.onFatal(error);
    },
  });

  const sendChanges = () => {
    cancelBatch = null;
    const known = [...changed].filter((serviceId) => assignments.get(serviceId) !== undefined);
    changed = new Set();
    for (const [host, flow] of flows.entries()) {
      const own = known.filter((serviceId) => hostOf(serviceId) === host);
      if (own.length > 0) flow?.assign(own, soonMs(known.length));
    }
  };

  const hasMissedPhase = ({ serviceId, check, lastCheckedAt }: CheckTarget): boolean => {
    if (lastCheckedAt === null) return false;
    const { intervalMs } = timingOf(check, settings);
    const shiftMs = shiftOf(phaseShiftMs, settings.intervalMs, intervalMs);
    return dueAfterCheck(serviceId, intervalMs, lastCheckedAt, lastCheckedAt, shiftMs) <= clock.now();
  };

  const addAll = (targets: readonly CheckTarget[], spreadMs: number) => {
    const added = targets.filter(assignments.put).map(({ serviceId }) => serviceId);
    for (const [host, flow] of flows.entries()) {
      const own = added.filter((serviceId) => hostOf(serviceId) === host);
      if (own.length > 0) flow?.assign(own, Math.min(spreadMs, soonMs(added.length)));
    }
  };

  return {
    start(first) {
      for (const target of first) if (!removedEarly?.has(target.serviceId)) assignments.put(target);
      removedEarly = null;
      supervisor.start();
      return allReady.promise;
    },
    apply({ serviceId, target }) {
      if (target === null) {
        removedEarly?.add(serviceId);
        if (assignments.remove(serviceId))
          hosts[hostOf(serviceId)]?.send({ type: 'remove', serviceIds: [serviceId] });
        return;
      }
      removedEarly?.delete(serviceId);
      if (!assignments.put(target)) return;
      changed.add(serviceId);
      cancelBatch ??= clock.after(BATCH_MS, sendChanges);
    },
    takeOver(targets) {
      const isNew = ({ lastCheckedAt }: CheckTarget) => lastCheckedAt === null;
      addAll(targets.filter(isNew), firstSpreadMs);
      // Its former process did not check a service at a phase that has passed since. Its next phase would leave the service
      // without a check for two intervals.
      const withoutMissed = (target: CheckTarget) =>
        hasMissedPhase(target) ? { ...target, lastCheckedAt: null } : target;
      addAll(targets.filter((target) => !isNew(target)).map(withoutMissed), TAKE_OVER_SPREAD_MS);
    },
    shiftPhases(shiftMs) {
      phaseShiftMs = shiftMs;
      for (const child of hosts) child?.send({ type: 'shift', phaseShiftMs });
    },
    recheck(serviceIds, spreadMs) {
      assignments.forgetChecks(serviceIds);
      for (const [host, child] of hosts.entries()) {
        const own = serviceIds.filter((serviceId) => hostOf(serviceId) === host);
        if (own.length > 0) child?.send({ type: 'recheck', serviceIds: own, spreadMs });
      }
    },
    targetOf: assignments.get,
    report() {
      const done = reports.map((report, host) => (doneBefore[host] ?? 0) + (report?.checksDone ?? 0));
      return {
        services: assignments.size,
        restarts: supervisor.restarts,
        hosts: [...reports],
        checksDone: done.reduce((sum, count) => sum + count, 0),
      };
    },
    async stop(withinMs = shutdownMs()) {
      cancelBatch?.();
      // All at once, so that their attempts end in parallel; the supervisor then waits for each in turn.
      for (const child of hosts) child?.ask();
      const cancelEnd = clock.after(withinMs, () => {
        for (const child of hosts) child?.kill();
      });
      await supervisor.stop();
      cancelEnd();
      await pool.destroy();
      allReady.resolve();
    },
  };
}
