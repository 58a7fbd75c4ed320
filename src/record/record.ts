/**
 * The record: evaluates observations and keeps the current status of each service. An observation passes intake,
 * connectivity, evaluate, commit and publish, once and in this order (docs/adr/0013).
 */
import { inParts, runInParts } from '../async/in-parts.ts';
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import {
  isHeartbeatMonitored,
  latestOfSilence,
  sampleOfLatest,
} from '../domain/heartbeat/heartbeat-rules.ts';
import { NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { detailedSampleOf, sampleOf } from '../domain/status/judge.ts';
import type { Log } from '../log.ts';
import type { ServiceChange, ServiceState } from '../store/ports/services.ts';
import type { StorageHealth } from '../store/ports/storage-health.ts';
import type { ProberState } from './connection-watch.ts';
import { type Connectivity, createConnectivity } from './connectivity.ts';
import { type DueDeadline, HeartbeatDeadlines } from './heartbeat-deadlines.ts';
import { type AwaitedRevisions, createAwaitedRevisions, createHeartbeatIntake } from './heartbeat-intake.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { Reaches } from './reaches.ts';
import type { RecordOptions } from './record-options.ts';
import { createRegionRechecks } from './regions.ts';
import { createResultIntake, type ResultIntake, slowOverOf } from './result-intake.ts';
import { type ServiceLoader, type ServiceSource, startServiceLoader } from './service-loader.ts';
import { createTrackedServices, type TrackedService, type TrackedServices } from './tracked-services.ts';
import { UpdatePipeline } from './update-pipeline.ts';

/** The losses of the record: updates and samples that its stores did not take. */
export interface RecordLosses {
  /** Results and heartbeats of which nothing but their samples is left. */
  readonly observations: number;
  readonly samples: number;
  readonly waitingSamples: number;
}

export class ResultRecord {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #storage: StorageHealth | undefined;
  /** Has services checked again. */
  readonly #recheck: (serviceIds: readonly number[]) => void;
  readonly #services: TrackedServices;
  readonly #revisions: AwaitedRevisions;
  readonly #deadlines: HeartbeatDeadlines;
  readonly #publisher: Publisher;
  readonly #pipeline: UpdatePipeline;
  readonly #reaches: Reaches;
  /** Loads the services while results are taken; null: all of them were loaded before. */
  #loader: ServiceLoader | null = null;
  readonly #heartbeats: ReturnType<typeof createHeartbeatIntake>;
  readonly #connectivity: Connectivity;
  readonly #results: ResultIntake;
  readonly #proberListeners = createListeners<[state: ProberState]>();
  #wasOnline = true;
  #isStopped = false;
  readonly #unwatchStorage;
  /** Takes results in the order of their arrival. Never throws because of a store. */
  readonly takeResults: ResultIntake['take'];
  /**
   * Takes results to which their node has applied the offline rule, in the order in which they were made. `deliveredAt` is the time of
   * delivery, epoch milliseconds of the same clock as their times; default: now. Results that were taken before change nothing, but
   * their samples are written again. Resolves when everything they change is committed and published, which may take a second and as
   * long as the registry is away; false: some updates were dropped at stop. Never rejects.
   */
  readonly takeRuled: ResultIntake['takeRuled'];
  /** Records that this program had to refuse a heartbeat: each service gets a full period. */
  readonly noteRefusal: () => void;
  /** An attempt failed at `failedAt`, epoch milliseconds, without an HTTP response; queries the control targets. */
  readonly noteDoubt;
  /** An attempt has been waiting for its response for so long that it may become slow; queries the control targets. */
  readonly noteDelay;
  /** The prober's own connection. */
  readonly prober;
  /** Calls `listener` when the prober goes offline or online. */
  readonly watchProber;
  /** Calls `listener` with each transition, in order of position; registry and status store have it by then. */
  readonly watchTransitions;
  readonly lastOutageOf: Reaches['lastOutageOf'];

  constructor(options: RecordOptions) {
    const { clock, log, registry, storage, regions = null, observations = null } = options;
    const { usual, firstSpreadMs, controlTargets } = options.settings;
    const { silenceMs, ...claims } = options.heartbeats;
    const services = createTrackedServices(options.statuses);
    const revisions = createAwaitedRevisions(clock);
    const deadlines = new HeartbeatDeadlines(clock, log, silenceMs);
    const reaches = new Reaches({
      ...{ usual, clock, ...options.dependencies },
      serviceOf: services.get,
      onAlone: (tracked, outage) => pipeline.observe(tracked, { via: 'alone', ...outage }),
      addSample: (sample) => publisher.addSample(sample),
      onLooked: () => pipeline.flush(),
    });
    const publisher = createPublisher({ ...options, observations }, clock, log, reaches.judge);
    const { sourceUrl, isInMaintenance } = options;
    const rules = { usual, sourceUrl, isInMaintenance, regions, wasAlone: reaches.wasAlone };
    const rechecks = regions === null ? null : createRegionRechecks(regions, clock);
    const pipeline = new UpdatePipeline({
      ...{ registry, storage, publisher, deadlines, rules, rechecks, clock, log },
    });
    const connectivity = createConnectivity({
      ...{ clock, log, controlTargets },
      slowOverMs: (serviceId) => slowOverOf(services, serviceId, usual),
      queryControlTargets: options.queryControlTargets,
      fleetSize: services.checkedCount,
      onChange: () => this.#onConnectivityChange(),
    });
    this.#results = createResultIntake({
      ...{ services, connectivity, pipeline, publisher, usual, regions, clock },
      endBatch: () => this.#endBatch(),
      sampleRegions: options.sampleRegions,
      toSample: observations === null ? sampleOf : detailedSampleOf,
      whenLoaded: (serviceIds, work) => {
        if (this.#loader === null) work();
        else this.#loader.inTurn(serviceIds, work);
      },
    });
    this.#heartbeats = createHeartbeatIntake({
      ...{ ...claims, services, revisions, pipeline, deadlines, clock },
      whenLoaded: (serviceId) => this.#whenLoaded(serviceId),
    });
    this.#clock = clock;
    this.#log = log;
    this.#storage = storage;
    this.#recheck = (serviceIds) => options.onRecheck(serviceIds, firstSpreadMs);
    this.#services = services;
    this.#revisions = revisions;
    this.#deadlines = deadlines;
    this.#publisher = publisher;
    this.#pipeline = pipeline;
    this.#connectivity = connectivity;
    this.takeResults = this.#results.take;
    this.takeRuled = this.#results.takeRuled;
    this.noteRefusal = () => deadlines.restart();
    this.noteDoubt = connectivity.noteDoubt;
    this.noteDelay = connectivity.noteDelay;
    this.prober = connectivity.state;
    this.watchProber = this.#proberListeners.add;
    this.watchTransitions = publisher.watchTransitions;
    this.#reaches = reaches;
    this.lastOutageOf = reaches.lastOutageOf;
    publisher.watchTransitions(reaches.note);
    this.#unwatchStorage = storage?.watch((problem) => {
      if (problem !== null) return;
      deadlines.restart();
      pipeline.retryNow();
    });
  }

  /** Loads the services from the registry and fills the status store. Call it before any other method. */
  load(states: readonly ServiceState[]): Promise<void> {
    return this.loadPages([states]);
  }

  /** The same with pages of services, of which none is kept: nothing but their definitions stays as it came. */
  async loadPages(
    pages: Iterable<readonly ServiceState[]> | AsyncIterable<readonly ServiceState[]>,
  ): Promise<void> {
    await this.#publisher.loadFeed();
    for await (const page of pages) {
      await runInParts(inParts(page, (state) => this.#add(state)));
      this.#publisher.learn(page.map(({ current }) => current));
    }
  }

  /**
   * Loads the services while observations are taken already: those of an observation are read when it arrives, the others
   * behind them. The caller holds the writer lease. Call it instead of `load`.
   */
  async loadBehind(source: ServiceSource): Promise<void> {
    await this.#publisher.loadFeed();
    source.learn([]);
    this.#loader = startServiceLoader({
      ...{ source, clock: this.#clock, log: this.#log },
      isKnown: (serviceId) => this.#services.get(serviceId) !== undefined,
      add: (state) => this.#add(state, true),
    });
  }

  /** Applies a change of the list of services; a revision that is not newer than the known one changes nothing. */
  applyChange(change: ServiceChange): void {
    const { serviceId, service } = change;
    const isUnloaded = this.#loader?.isComplete === false && this.#services.get(serviceId) === undefined;
    if (service === null) {
      this.#loader?.forget(serviceId);
      // While it served, this process may have learned its status.
      if (isUnloaded) this.#publisher.remove(serviceId);
    } else this.#loader?.revive(serviceId);
    if (isUnloaded && service !== null)
      void this.#whenLoaded(serviceId).then(() => this.#applyLoaded(change));
    else this.#applyNow(change);
  }

  /**
   * Takes a heartbeat. Resolves when it is committed and every read shows it. Rejects with {@link HeartbeatRefused}
   * if this program is at fault, or with the registry's error if the domain does not belong to the account.
   */
  async takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
    if (this.#isStopped) throw new HeartbeatRefused('The monitor is stopping; send the heartbeat again.');
    return await this.#heartbeats.take(received);
  }

  /** Starts the deadlines, because heartbeats can be received from now on. */
  startListening(): void {
    this.#deadlines.start(() => this.#pollDeadlines());
  }

  /** Deadlines of heartbeats that have not passed yet, epoch milliseconds, by service; null: not all are known yet. */
  deadlines() {
    return this.#loader?.isComplete === false ? null : this.#deadlines.running();
  }

  /** The state of a service that the engine needs to start its checks. */
  probeStateOf(serviceId: number): { readonly memory: ProbeMemory; readonly lastCheckedAt: number | null } {
    const tracked = this.#services.get(serviceId);
    if (tracked === undefined || tracked.isCheckChanged) return { memory: NO_MEMORY, lastCheckedAt: null };
    return { memory: tracked.memory, lastCheckedAt: tracked.current.latest?.checkedAt ?? null };
  }

  /** The updates and samples dropped since the start, because a store was unavailable for too long, and those that wait for it. */
  losses(): RecordLosses {
    const { waiting, dropped } = this.#publisher.sampleFigures();
    return { observations: this.#pipeline.dropped(), samples: dropped, waitingSamples: waiting };
  }

  /** Resolves when everything observed so far is committed and published. Does not wait for held results. */
  idle(): Promise<void> {
    return this.#pipeline.idle();
  }

  /** Held results become suspect samples. Resolves when everything is committed, or was dropped after a few attempts. */
  async stop(): Promise<void> {
    if (!this.#isStopped) {
      this.#isStopped = true;
      this.#loader?.stop();
      this.#results.stop();
      this.#connectivity.stop();
      this.#deadlines.stop();
      this.#reaches.stop();
      this.#unwatchStorage?.();
      for (const result of this.#connectivity.takeHeld()) this.#results.addSample(result, true);
      this.#endBatch();
      this.#pipeline.stop();
      this.#publisher.stop();
    }
    await this.#pipeline.idle();
  }

  async #whenLoaded(serviceId: number) {
    return await this.#loader?.need([serviceId]);
  }

  #onConnectivityChange(): void {
    if (this.#isStopped) return;
    for (const { result, trust } of this.#connectivity.takeDecided()) {
      const tracked = this.#services.get(result.serviceId);
      if (tracked !== undefined) this.#results.observe(tracked, result, trust === 'suspect');
    }
    this.#endBatch();
    if (this.#wasOnline === this.#connectivity.online) return;
    this.#wasOnline = this.#connectivity.online;
    if (this.#wasOnline) this.#deadlines.restart();
    this.#proberListeners.notify(this.#connectivity.state());
  }

  #endBatch(): void {
    this.#pipeline.flush();
    const affected = this.#isStopped ? [] : this.#connectivity.takeAffected();
    if (affected.length > 0) this.#recheck(affected);
  }

  #pollDeadlines(): void {
    // While this process refuses heartbeats, none counts as missed (decisions, Heartbeats).
    const isUnreachable =
      this.#isStopped || !this.#connectivity.online || (this.#storage?.problem() ?? null) !== null;
    const { isNear, due } = this.#deadlines.poll(isUnreachable);
    if (isNear) this.#connectivity.doubt(this.#clock.monotonic());
    for (const deadline of due) this.#observeMissed(deadline);
    if (due.length > 0) this.#endBatch();
  }

  #observeMissed({ serviceId, at, silenceMs: lengthMs, missed }: DueDeadline): void {
    const tracked = this.#services.get(serviceId);
    if (tracked === undefined || !isHeartbeatMonitored(tracked.service)) {
      this.#deadlines.forget(serviceId);
    } else if (missed > 0) {
      // The service is already down, but its history must show for how long.
      this.#publisher.addSample(sampleOfLatest(serviceId, latestOfSilence(at), null));
      this.#deadlines.pass(serviceId);
    } else if (
      tracked.inFlight?.observation.via === 'heartbeat' ||
      !this.#connectivity.trustsMissedHeartbeat()
    ) {
      this.#deadlines.postpone(serviceId);
    } else {
      this.#pipeline.observe(tracked, { via: 'missed', deadlineAt: at, silenceMs: lengthMs });
      this.#deadlines.pass(serviceId);
    }
  }

  /** Applies a change to a service that was loaded after the change was committed, unless it was removed meanwhile. */
  #applyLoaded(change: ServiceChange): void {
    const tracked = this.#services.get(change.serviceId);
    if (tracked === undefined || this.#isStopped) return;
    this.#applyNow(change);
    void this.#publisher.publishStatus(tracked.current);
  }

  #applyNow(change: ServiceChange): void {
    const { serviceId, service } = change;
    const tracked = this.#services.get(serviceId);
    if (service === null) {
      if (tracked !== undefined) this.#remove(tracked);
    } else if (tracked === undefined) {
      const current = unknownStatus(serviceId);
      this.#add({ service, current, memory: NO_MEMORY, openIncident: null });
      void this.#publisher.publishStatus(current);
    } else if (service.revision > tracked.service.revision) {
      if (this.#services.revise(tracked, service)) this.#connectivity.dropHeld(serviceId);
      if (tracked.isCheckChanged) this.#pipeline.keep(tracked);
      this.#deadlines.follow(tracked);
    }
    this.#revisions.notify(change);
  }

  #add(state: ServiceState, isLate = false): void {
    const tracked = this.#services.add(state);
    this.#deadlines.follow(tracked, isLate);
    this.#reaches.restore(tracked);
  }

  #remove(tracked: TrackedService): void {
    const { id } = tracked.service;
    this.#services.remove(tracked);
    this.#connectivity.forget(id);
    this.#deadlines.forget(id);
    this.#publisher.remove(id);
  }
}
