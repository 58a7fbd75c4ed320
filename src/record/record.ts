/**
 * The record: evaluates observations and keeps the current status of each service. An observation passes intake,
 * connectivity, evaluate, commit and publish, once and in this order (docs/adr/0013).
 */

import { inParts, runInParts } from '../async/in-parts.ts';
import { createListeners } from '../async/listeners.ts';
import type { Clock } from '../clock.ts';
import type { CheckTiming } from '../domain/check-timing.ts';
import {
  isHeartbeatMonitored,
  latestOfSilence,
  sampleOfLatest,
} from '../domain/heartbeat/heartbeat-rules.ts';
import { NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import { unknownStatus } from '../domain/status/current.ts';
import { detailedSampleOf, sampleOf } from '../domain/status/judge.ts';
import type { StatusPlace } from '../domain/status/shared-statuses.ts';
import type { Log } from '../log.ts';
import type { IncidentStore } from '../store/ports/incidents.ts';
import type { Observations } from '../store/ports/observations.ts';
import type { OwnershipStore } from '../store/ports/ownership.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { ServiceChange, ServiceState } from '../store/ports/services.ts';
import type { StatusStore } from '../store/ports/status.ts';
import type { StorageHealth } from '../store/ports/storage-health.ts';
import type { UpdateStore } from '../store/ports/updates.ts';
import type { ProberState } from './connection-watch.ts';
import { createConnectivity } from './connectivity.ts';
import { createHeartbeatDeadlines, DEADLINE_POLL_MS, type DueDeadline } from './heartbeat-deadlines.ts';
import { createAwaitedRevisions, createHeartbeatIntake } from './heartbeat-intake.ts';
import { type HeartbeatReceipt, HeartbeatRefused, type ReceivedHeartbeat } from './observation.ts';
import { createPublisher } from './publisher.ts';
import { createRegionRechecks, type RegionOptions } from './region-rechecks.ts';
import { createResultIntake, slowOverOf } from './result-intake.ts';
import type { SampleRegions } from './sample-regions.ts';
import { type ServiceLoader, type ServiceSource, startServiceLoader } from './service-loader.ts';
import { createTrackedServices, type TrackedService } from './tracked-services.ts';
import { createUpdatePipeline } from './update-pipeline.ts';

/** Settings for services that send heartbeats. */
interface HeartbeatSettings {
  readonly registry: Pick<OwnershipStore, 'claimDomain'>;
  /** Whether the domain is in the catalogue or below a domain of it, so that only its verified owner may report for it. */
  readonly isCatalogueDomain: (domain: string) => boolean;
  /** How long a service may be silent whose owner configured no period, milliseconds. */
  readonly silenceMs: number;
}

/** Options of the record. Durations are in milliseconds. */
export interface RecordOptions {
  readonly registry: Pick<UpdateStore, 'commitUpdates' | 'transitionsAfter' | 'lastTransition'> &
    Pick<IncidentStore, 'listIncidents'>;
  readonly status: Pick<StatusStore, 'put' | 'remove'>;
  /** Where the record has its statuses, shared with what `status` publishes; absent: in a table of its own. */
  readonly statuses?: StatusPlace;
  readonly samples: Pick<SampleStore, 'append'>;
  /** Whether the registry accepts writes; absent: always. */
  readonly storage?: StorageHealth;
  /** The external time series of incidents, heartbeats and detailed samples; absent or null: none. */
  readonly observations?: Pick<Observations, 'incident' | 'heartbeat'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: {
    /** The settings `checks.*`, which count for services without times of their own. */
    readonly usual: CheckTiming;
    /** Services affected by an outage of the prober are checked again within this time. */
    readonly firstSpreadMs: number;
    /** How many control targets are configured; 0: the majority of the fleet decides (decisions). */
    readonly controlTargets: number;
  };
  readonly heartbeats: HeartbeatSettings;
  /** True: at least one control target responded. No response within 3 s, or a rejection, counts as no. */
  readonly queryControlTargets: () => Promise<boolean>;
  /** Called with the services to check again, spread over `spreadMs`. */
  readonly onRecheck: (serviceIds: readonly number[], spreadMs: number) => void;
  /** URL of the service's page on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Whether a maintenance of the vendor is in progress at `at`, epoch milliseconds. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
  /** How the verdicts of the regions form one status; absent: there is only one region. */
  readonly regions?: RegionOptions;
  /** Which samples name their region; absent: none. */
  readonly sampleRegions?: Pick<SampleRegions, 'nameOf'>;
}

/** What the record could not hand to its stores. */
export interface RecordLosses {
  /** Results and heartbeats of which nothing but their samples is left. */
  readonly observations: number;
  readonly samples: number;
  /** Samples that wait. */
  readonly waitingSamples: number;
}

/** The record. */
export type ResultRecord = ReturnType<typeof createRecord>;

/** Makes the record. */
export function createRecord(options: RecordOptions) {
  const { clock, log, registry, storage, sourceUrl, isInMaintenance } = options;
  const { usual, firstSpreadMs, controlTargets } = options.settings;
  const { silenceMs, ...claims } = options.heartbeats;
  const observations = options.observations ?? null;

  const services = createTrackedServices(options.statuses);
  const revisions = createAwaitedRevisions(clock);
  const deadlines = createHeartbeatDeadlines(clock, log, silenceMs);
  const publisher = createPublisher({ ...options, observations }, clock, log);
  const regions = options.regions ?? null;
  const rechecks = regions === null ? null : createRegionRechecks(regions, clock);
  const rules = { usual, sourceUrl, isInMaintenance, regions };
  const pipeline = createUpdatePipeline({
    ...{ registry, storage, publisher, deadlines, rules, rechecks, clock, log },
  });
  /** Loads the services while results are taken; null: all of them were loaded before. */
  let loader: ServiceLoader | null = null;
  const whenLoaded = async (serviceId: number) => await loader?.need([serviceId]);
  const heartbeats = createHeartbeatIntake({
    ...{ ...claims, services, whenLoaded, revisions, pipeline, deadlines, clock },
  });
  const connectivity = createConnectivity({
    ...{ clock, log, controlTargets },
    slowOverMs: (serviceId) => slowOverOf(services, serviceId, usual),
    queryControlTargets: options.queryControlTargets,
    fleetSize: services.checkedCount,
    onChange: onConnectivityChange,
  });
  const results = createResultIntake({
    ...{ services, connectivity, pipeline, publisher, usual, regions, endBatch, clock },
    sampleRegions: options.sampleRegions,
    toSample: observations === null ? sampleOf : detailedSampleOf,
    whenLoaded(serviceIds, work) {
      if (loader === null) work();
      else loader.inTurn(serviceIds, work);
    },
  });
  const proberListeners = createListeners<[state: ProberState]>();
  let wasOnline = true;
  let isStopped = false;
  let stopPolling = (): void => {};
  const unwatchStorage = storage?.watch((problem) => {
    if (problem !== null) return;
    deadlines.restart();
    pipeline.retryNow();
  });

  function onConnectivityChange(): void {
    if (isStopped) return;
    for (const { result, trust } of connectivity.takeDecided()) {
      const tracked = services.get(result.serviceId);
      if (tracked !== undefined) results.observe(tracked, result, trust === 'suspect');
    }
    endBatch();
    if (wasOnline === connectivity.online) return;
    wasOnline = connectivity.online;
    if (wasOnline) deadlines.restart();
    proberListeners.notify(connectivity.state());
  }

  function endBatch(): void {
    pipeline.flush();
    const affected = isStopped ? [] : connectivity.takeAffected();
    if (affected.length > 0) options.onRecheck(affected, firstSpreadMs);
  }

  function pollDeadlines(): void {
    // While this process refuses heartbeats, none counts as missed (decisions, Heartbeats).
    const isUnreachable = isStopped || !connectivity.online || (storage?.problem() ?? null) !== null;
    const { isNear, due } = deadlines.poll(isUnreachable);
    if (isNear) connectivity.doubt(clock.monotonic());
    for (const deadline of due) observeMissed(deadline);
    if (due.length > 0) endBatch();
  }

  function observeMissed({ serviceId, at, silenceMs: lengthMs, missed }: DueDeadline): void {
    const tracked = services.get(serviceId);
    if (tracked === undefined || !isHeartbeatMonitored(tracked.service)) {
      deadlines.forget(serviceId);
    } else if (missed > 0) {
      // The service is already down, but its history must show for how long.
      publisher.addSample(sampleOfLatest(serviceId, latestOfSilence(at), null));
      deadlines.pass(serviceId);
    } else if (tracked.inFlight?.observation.via === 'heartbeat' || !connectivity.trustsMissedHeartbeat()) {
      deadlines.postpone(serviceId);
    } else {
      pipeline.observe(tracked, { via: 'missed', deadlineAt: at, silenceMs: lengthMs });
      deadlines.pass(serviceId);
    }
  }

  function applyChange(change: ServiceChange): void {
    const { serviceId, service } = change;
    const isUnloaded = loader?.isComplete === false && services.get(serviceId) === undefined;
    if (service === null) {
      loader?.forget(serviceId);
      // While it served, this process may have learned its status.
      if (isUnloaded) publisher.remove(serviceId);
    } else loader?.revive(serviceId);
    if (isUnloaded && service !== null) void whenLoaded(serviceId).then(() => applyLoaded(change));
    else applyNow(change);
  }

  /** Applies a change to a service that was loaded after the change was committed, unless it was removed meanwhile. */
  function applyLoaded(change: ServiceChange): void {
    const tracked = services.get(change.serviceId);
    if (tracked === undefined || isStopped) return;
    applyNow(change);
    void publisher.publishStatus(tracked.current);
  }

  function applyNow(change: ServiceChange): void {
    const { serviceId, service } = change;
    const tracked = services.get(serviceId);
    if (service === null) {
      if (tracked !== undefined) remove(tracked);
    } else if (tracked === undefined) {
      const current = unknownStatus(serviceId);
      add({ service, current, memory: NO_MEMORY, openIncident: null });
      void publisher.publishStatus(current);
    } else if (service.revision > tracked.service.revision) {
      if (services.revise(tracked, service)) connectivity.dropHeld(serviceId);
      if (tracked.isCheckChanged) pipeline.keep(tracked);
      deadlines.follow(tracked);
    }
    revisions.notify(change);
  }

  function add(state: ServiceState, isLate = false): void {
    deadlines.follow(services.add(state), isLate);
  }

  async function loadPages(
    pages: Iterable<readonly ServiceState[]> | AsyncIterable<readonly ServiceState[]>,
  ): Promise<void> {
    await publisher.loadFeed();
    for await (const page of pages) {
      await runInParts(inParts(page, (state) => add(state)));
      publisher.learn(page.map(({ current }) => current));
    }
  }

  function remove(tracked: TrackedService): void {
    const { id } = tracked.service;
    services.remove(tracked);
    connectivity.forget(id);
    deadlines.forget(id);
    publisher.remove(id);
  }

  return {
    /** Loads the services from the registry and fills the status store. Call it before any other method. */
    load: (states: readonly ServiceState[]): Promise<void> => loadPages([states]),
    /** The same with pages of services, of which none is kept: nothing but their definitions stays as it came. */
    loadPages,
    /**
     * Loads the services while observations are taken already: those of an observation are read when it arrives, the others
     * behind them. The caller holds the writer lease. Call it instead of `load`.
     */
    async loadBehind(source: ServiceSource): Promise<void> {
      await publisher.loadFeed();
      source.learn([]);
      loader = startServiceLoader({
        ...{ source, clock, log },
        isKnown: (serviceId) => services.get(serviceId) !== undefined,
        add: (state) => add(state, true),
      });
    },
    /** Applies a change of the list of services; a revision that is not newer than the known one changes nothing. */
    applyChange,
    /** Takes results in the order of their arrival. Never throws because of a store. */
    takeResults: results.take,
    /**
     * Takes results to which their node has applied the offline rule, in the order in which they were made.
     * `deliveredAt` is the time of delivery, epoch milliseconds of the same clock as their times; default: now. Results
     * that were taken before change nothing, but their samples are written again. Resolves when everything they change
     * is committed and published, which may take a second and as long as the registry is away; false: some updates were
     * dropped at stop. Never rejects.
     */
    takeRuled: results.takeRuled,
    /**
     * Takes a heartbeat. Resolves when it is committed and every read shows it. Rejects with {@link HeartbeatRefused}
     * if this program is at fault, or with the registry's error if the domain does not belong to the account.
     */
    async takeHeartbeat(received: ReceivedHeartbeat): Promise<HeartbeatReceipt> {
      if (isStopped) throw new HeartbeatRefused('The monitor is stopping; send the heartbeat again.');
      return await heartbeats.take(received);
    },
    /** Starts the deadlines, because heartbeats can be received from now on. */
    startListening(): void {
      deadlines.start();
      stopPolling();
      stopPolling = clock.every(DEADLINE_POLL_MS, pollDeadlines);
    },
    /** Records that this program had to refuse a heartbeat: each service gets a full period. */
    noteRefusal: deadlines.restart,
    /** Deadlines of heartbeats that have not passed yet, epoch milliseconds, by service; null: not all are known yet. */
    deadlines: () => (loader?.isComplete === false ? null : deadlines.running()),
    /** The state of a service that the engine needs to start its checks. */
    probeStateOf(serviceId: number): { readonly memory: ProbeMemory; readonly lastCheckedAt: number | null } {
      const tracked = services.get(serviceId);
      if (tracked === undefined || tracked.isCheckChanged) return { memory: NO_MEMORY, lastCheckedAt: null };
      return { memory: tracked.memory, lastCheckedAt: tracked.current.latest?.checkedAt ?? null };
    },
    /** An attempt failed at `failedAt`, epoch milliseconds, without an HTTP response; queries the control targets. */
    noteDoubt: connectivity.noteDoubt,
    /** An attempt has been waiting for its response for so long that it may become slow; queries the control targets. */
    noteDelay: connectivity.noteDelay,
    /** The prober's own connection. */
    prober: connectivity.state,
    /** Calls `listener` when the prober goes offline or online. */
    watchProber: proberListeners.add,
    /** Calls `listener` with each transition, in order of position; registry and status store have it by then. */
    watchTransitions: publisher.watchTransitions,
    /** What the record has dropped since the start, because a store was unavailable for too long, and what waits for it. */
    losses(): RecordLosses {
      const { waiting, dropped } = publisher.sampleFigures();
      return { observations: pipeline.dropped(), samples: dropped, waitingSamples: waiting };
    },
    /** Resolves when everything observed so far is committed and published. Does not wait for held results. */
    idle: pipeline.idle,
    /**
     * Held results become suspect samples. Resolves when everything is committed, or was dropped after a few attempts.
     */
    async stop(): Promise<void> {
      if (!isStopped) {
        isStopped = true;
        loader?.stop();
        results.stop();
        connectivity.stop();
        stopPolling();
        unwatchStorage?.();
        for (const result of connectivity.takeHeld()) results.addSample(result, true);
        endBatch();
        pipeline.stop();
        publisher.stop();
      }
      await pipeline.idle();
    },
  };
}
