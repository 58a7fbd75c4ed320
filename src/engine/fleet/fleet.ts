/** The fleet: all services spread over probe threads. The successor of a thread takes over its services. */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { createSupervisor, type Supervisor } from '../../actor/supervisor.ts';
import { createBackoff } from '../../async/retry.ts';
import type { Clock } from '../../clock.ts';
import { type CheckTarget, timingOf } from '../../domain/check-target.ts';
import type { UnreadableCredentials } from '../../domain/credential-seal.ts';
import type { CheckResult } from '../../domain/result.ts';
import type { Log } from '../../log.ts';
import { SMALL_YOUNG_MB } from '../../thread/v8-options.ts';
import { dueAfterCheck, shiftOf } from '../host/phase.ts';
import {
  type BrokenAttempt,
  type EngineSettings,
  type ForbiddenTarget,
  type HostReport,
  packTargets,
  unpackResults,
} from '../protocol.ts';
import { type AssignFlow, chooseHost, createAssignFlow, createAssignments } from './assignments.ts';
import { type HostChild, startHostChild } from './host-child.ts';

export interface FleetOptions {
  readonly settings: EngineSettings;
  /** Probe threads, 1 or more. */
  readonly threads: number;
  /** File of the thread's task: its default export runs a host with a HostTask. */
  readonly entry: URL;
  /** Passed to the entry unchanged: the settings of the prober. */
  readonly prober: unknown;
  /** Until when attempts may be started; absent: always. */
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
  /** Services whose credentials could not be decrypted of late; absent: none. */
  readonly countUnreadable?: () => number;
  /** Called for attempts that wait, because their address has as many connections as it may. Absent: not reported. */
  readonly onBusy?: (address: string) => void;
  /** Called for each attempt that met a bug of this program. Absent: not reported. */
  readonly onBroken?: (found: BrokenAttempt) => void;
  /** Threads crashed again and again; the fleet has stopped. */
  readonly onFatal: (error: Error) => void;
}

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

/** A fleet; nothing runs before `start`. */
export class Fleet {
  readonly #options: FleetOptions;
  readonly #settings: EngineSettings;
  readonly #threads: number;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #firstSpreadMs: number;
  readonly #memoryLimitBytes: number;
  readonly #assignments: ReturnType<typeof createAssignments>;
  readonly #hosts: (HostChild | null)[];
  /** The assignments to the thread of each host. */
  readonly #flows: (AssignFlow | null)[];
  readonly #reports: (HostReport | null)[];
  readonly #doneBefore: number[];
  /** Ready timeouts of replacements, by host; null: it has not been replaced yet. */
  readonly #readyTimeouts: (ReturnType<typeof createBackoff> | null)[];
  readonly #allReady = Promise.withResolvers<void>();
  readonly #waitingFor: Set<number>;
  /** Removed before the start; null: it has started. */
  #removedEarly: Set<number> | null = new Set();
  #changed = new Set<number>();
  #phaseShiftMs = 0;
  #cancelBatch: (() => void) | null = null;
  #epoch = 0;
  readonly #pool: Piscina;
  readonly #supervisor: Supervisor;
  /** The target of a service; undefined: the fleet does not have it. */
  readonly targetOf: (serviceId: number) => CheckTarget | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
    const { settings, threads, clock, log } = options;
    this.#settings = settings;
    this.#threads = threads;
    this.#clock = clock;
    this.#log = log;
    this.#firstSpreadMs = settings.firstSpreadMs;
    this.#memoryLimitBytes = options.memoryLimitBytes ?? DEFAULT_MEMORY_LIMIT_BYTES;
    this.#assignments = createAssignments(settings);
    this.#hosts = Array.from({ length: threads }, () => null);
    this.#flows = this.#hosts.map(() => null);
    this.#reports = this.#hosts.map(() => null);
    this.#doneBefore = this.#hosts.map(() => 0);
    this.#readyTimeouts = this.#hosts.map(() => null);
    this.#waitingFor = new Set(this.#hosts.keys());
    this.#pool = new Piscina({
      filename: fileURLToPath(options.entry),
      minThreads: threads,
      maxThreads: threads,
      concurrentTasksPerWorker: 1,
      idleTimeout: 0,
      atomics: 'disabled',
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(this.#memoryLimitBytes / MIB),
        ...(options.isQuiet === true ? { maxYoungGenerationSizeMb: SMALL_YOUNG_MB } : {}),
      },
    });
    this.#pool.on('error', (error: Error) =>
      log.error({ problem: error.message }, 'a probe thread failed outside its task'),
    );
    this.#supervisor = createSupervisor({
      children: [...this.#hosts.keys()].map((host) => ({
        id: this.#nameOf(host),
        restart: 'permanent',
        // The fleet ends the threads itself when their attempts take too long.
        shutdownMs: STOP_TIMEOUT_MS,
        start: () => this.#launch(host),
      })),
      intensity: INTENSITY,
      clock,
      onRestart: (id, reason) =>
        this.#handleExit(
          [...this.#hosts.keys()].findIndex((host) => this.#nameOf(host) === id),
          reason,
        ),
      onGiveUp: (error) => {
        this.#allReady.reject(error);
        options.onFatal(error);
      },
    });
    this.targetOf = this.#assignments.get;
  }

  /**
   * Starts the threads and assigns them the services. Resolves when every thread has its own, or the fleet was stopped;
   * rejects with the error that `onFatal` gets. Changes that were applied before take precedence.
   */
  start(first: Iterable<CheckTarget>): Promise<void> {
    for (const target of first) if (!this.#removedEarly?.has(target.serviceId)) this.#assignments.put(target);
    this.#removedEarly = null;
    this.#supervisor.start();
    return this.#allReady.promise;
  }

  /**
   * Adds, changes or (target null) removes a service; idempotent by revision. A change that leaves the check the same keeps
   * the probe memory; remove and add the service to reset it. A service with a new check is checked soon.
   */
  apply({ serviceId, target }: { readonly serviceId: number; readonly target: CheckTarget | null }): void {
    if (target === null) {
      this.#removedEarly?.add(serviceId);
      if (this.#assignments.remove(serviceId))
        this.#hosts[this.#hostOf(serviceId)]?.send({ type: 'remove', serviceIds: [serviceId] });
      return;
    }
    this.#removedEarly?.delete(serviceId);
    if (!this.#assignments.put(target)) return;
    this.#changed.add(serviceId);
    this.#cancelBatch ??= this.#clock.after(BATCH_MS, () => this.#sendChanges());
  }

  /**
   * Adds services that another process has checked until now. One that was due since its last check is checked within a few
   * seconds, one that was never checked within `firstSpreadMs`.
   */
  takeOver(targets: readonly CheckTarget[]): void {
    const isNew = ({ lastCheckedAt }: CheckTarget) => lastCheckedAt === null;
    this.#addAll(targets.filter(isNew), this.#firstSpreadMs);
    // Its former process did not check a service at a phase that has passed since. Its next phase would leave the service
    // without a check for two intervals.
    const withoutMissed = (target: CheckTarget) =>
      this.#hasMissedPhase(target) ? { ...target, lastCheckedAt: null } : target;
    this.#addAll(targets.filter((target) => !isNew(target)).map(withoutMissed), TAKE_OVER_SPREAD_MS);
  }

  /** Adds services that are checked at once. Those that the fleet has in a newer revision stay as they are. */
  checkOnce(targets: readonly CheckTarget[]): void {
    this.#addAll(targets, 0);
  }

  /**
   * Shifts the phases of all services, from 0 to the interval of the settings; services with an interval of their own by the
   * same part of it. A change must be less than half of the interval.
   */
  shiftPhases(shiftMs: number): void {
    this.#phaseShiftMs = shiftMs;
    for (const child of this.#hosts) child?.send({ type: 'shift', phaseShiftMs: this.#phaseShiftMs });
  }

  /** Checks these services again soon, spread over `spreadMs`, but not before the time that a 429 has set. */
  recheck(serviceIds: readonly number[], spreadMs: number): void {
    this.#assignments.forgetChecks(serviceIds);
    for (const [host, child] of this.#hosts.entries()) {
      const own = serviceIds.filter((serviceId) => this.#hostOf(serviceId) === host);
      if (own.length > 0) child?.send({ type: 'recheck', serviceIds: own, spreadMs });
    }
  }

  report(): FleetReport {
    const done = this.#reports.map(
      (report, host) => (this.#doneBefore[host] ?? 0) + (report?.checksDone ?? 0),
    );
    return {
      services: this.#assignments.size,
      restarts: this.#supervisor.restarts,
      hosts: [...this.#reports],
      checksDone: done.reduce((sum, count) => sum + count, 0),
      unreadableCredentials: this.#options.countUnreadable?.() ?? 0,
    };
  }

  /**
   * Stops the threads after their attempts in flight. Attempts that take longer than `withinMs` are given up; default: the
   * longest timeout of an attempt and one second, at most 11 s.
   */
  async stop(withinMs: number = this.#shutdownMs()): Promise<void> {
    this.#cancelBatch?.();
    // All at once, so that their attempts end in parallel; the supervisor then waits for each in turn.
    for (const child of this.#hosts) child?.ask();
    const cancelEnd = this.#clock.after(withinMs, () => {
      for (const child of this.#hosts) child?.kill();
    });
    await this.#supervisor.stop();
    cancelEnd();
    await this.#pool.destroy();
    this.#allReady.resolve();
  }

  #hostOf(serviceId: number) {
    return chooseHost(serviceId, this.#threads);
  }

  #soonMs(services: number) {
    return Math.min(this.#firstSpreadMs, services * SPREAD_PER_SERVICE_MS);
  }

  #launch(host: number) {
    const timeouts = this.#readyTimeouts[host] ?? null;
    const child = startHostChild({
      pool: this.#pool,
      epoch: ++this.#epoch,
      settings: this.#settings,
      prober: this.#options.prober,
      startPermit: this.#options.startPermit,
      clock: this.#clock,
      readyTimeoutMs: timeouts?.pauseMs ?? READY_TIMEOUT_MS.first,
      memoryLimitBytes: this.#memoryLimitBytes,
      onReady: () => {
        if (this.#phaseShiftMs !== 0) child.send({ type: 'shift', phaseShiftMs: this.#phaseShiftMs });
        const own = [...this.#assignments.serviceIds()].filter(
          (serviceId) => this.#hostOf(serviceId) === host,
        );
        const spreadMs = timeouts === null ? this.#firstSpreadMs : this.#soonMs(this.#countOverdue(own));
        flow.assign(own, spreadMs, () => {
          this.#waitingFor.delete(host);
          if (this.#waitingFor.size === 0) this.#allReady.resolve();
        });
      },
      onMessage: (message) => {
        if (message.type === 'assigned') flow.confirm();
        else if (message.type === 'results') this.#take(unpackResults(message.packed));
        else if (message.type === 'doubt') this.#options.onDoubt(message.failedAt);
        else if (message.type === 'delay') this.#options.onDelay();
        else if (message.type === 'forbidden') this.#options.onForbidden?.(message.found);
        else if (message.type === 'unreadable') this.#options.onUnreadable?.(message.found);
        else if (message.type === 'broken') this.#options.onBroken?.(message.found);
        else if (message.type === 'busy') this.#options.onBusy?.(message.address);
        else this.#reports[host] = message.report;
      },
      onRecycle: ({ heapBytes, externalBytes }) => {
        this.#log.warn(
          { host, heapBytes, externalBytes },
          'a probe thread exceeded its memory limit and is replaced',
        );
      },
    });
    const flow = createAssignFlow((serviceIds, spreadMs, aheadMs) => {
      const services = packTargets(serviceIds.flatMap((serviceId) => this.#assignments.get(serviceId) ?? []));
      const notBefore = this.#assignments.notBefore(serviceIds);
      child.send({ type: 'assign', services, spreadMs, aheadMs, notBefore }, [services.numbers.buffer]);
    });
    this.#hosts[host] = child;
    this.#flows[host] = flow;
    return child;
  }

  #countOverdue(serviceIds: readonly number[]) {
    const now = this.#clock.now();
    const isOverdue = (target: CheckTarget | undefined) =>
      target === undefined ||
      (target.lastCheckedAt ?? 0) <= now - timingOf(target.check, this.#settings).intervalMs;
    return serviceIds.filter((serviceId) => isOverdue(this.#assignments.get(serviceId))).length;
  }

  #take(results: readonly CheckResult[]) {
    this.#assignments.take(results);
    this.#options.onResults(results);
  }

  #handleExit(host: number, { kind, error }: { readonly kind: string; readonly error?: Error }) {
    const child = this.#hosts[host];
    const inFlight = kind === 'crash' || kind === 'killed' ? (child?.inFlight() ?? []) : [];
    this.#assignments.postpone(inFlight, child?.epoch ?? 0, this.#clock.now());
    const timeouts =
      this.#readyTimeouts[host] ?? createBackoff(READY_TIMEOUT_MS.replacement, READY_TIMEOUT_MS.longest);
    this.#readyTimeouts[host] = timeouts;
    if (child?.wasReady) timeouts.reset();
    else timeouts.next();
    this.#doneBefore[host] = (this.#doneBefore[host] ?? 0) + (this.#reports[host]?.checksDone ?? 0);
    this.#reports[host] = null;
    this.#hosts[host] = null;
    this.#flows[host] = null;
    this.#log.warn({ host, ended: kind, problem: error?.message, inFlight }, 'a probe thread is replaced');
  }

  #nameOf(host: number) {
    return `probe thread ${host}`;
  }

  #shutdownMs() {
    return Math.min(STOP_TIMEOUT_MS, this.#assignments.longestTimeoutMs() + GRACE_MS);
  }

  #sendChanges() {
    this.#cancelBatch = null;
    const known = [...this.#changed].filter((serviceId) => this.#assignments.get(serviceId) !== undefined);
    this.#changed = new Set();
    for (const [host, flow] of this.#flows.entries()) {
      const own = known.filter((serviceId) => this.#hostOf(serviceId) === host);
      if (own.length > 0) flow?.assign(own, this.#soonMs(known.length));
    }
  }

  #hasMissedPhase({ serviceId, check, lastCheckedAt }: CheckTarget): boolean {
    if (lastCheckedAt === null) return false;
    const { intervalMs } = timingOf(check, this.#settings);
    const shiftMs = shiftOf(this.#phaseShiftMs, this.#settings.intervalMs, intervalMs);
    return dueAfterCheck(serviceId, intervalMs, lastCheckedAt, lastCheckedAt, shiftMs) <= this.#clock.now();
  }

  #addAll(targets: readonly CheckTarget[], spreadMs: number) {
    const added = targets.filter(this.#assignments.put).map(({ serviceId }) => serviceId);
    for (const [host, flow] of this.#flows.entries()) {
      const own = added.filter((serviceId) => this.#hostOf(serviceId) === host);
      if (own.length > 0) flow?.assign(own, Math.min(spreadMs, this.#soonMs(added.length)));
    }
  }
}
