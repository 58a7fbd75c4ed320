/**
 * Publishes statuses, transitions and samples to the status store, the listeners and the sample store. While the
 * registry accepts no writes, it publishes previews of check results before they are committed.
 */
import { createCoalescingLoop } from '../async/coalescing-loop.ts';
import type { Clock } from '../clock.ts';
import { timingOf } from '../domain/check-target.ts';
import type { Incident } from '../domain/incident/incident.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import type { CurrentStatus, Transition } from '../domain/status/current.ts';
import { judgeAttempt } from '../domain/status/judge.ts';
import type { Log } from '../log.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { Observations, SampleWrites } from '../store/ports/samples.ts';
import type { StatusWrites } from '../store/ports/status.ts';
import type { TransitionReads } from '../store/ports/updates.ts';
import { type CheckRules, nextOfCheck, rulesFor } from './evaluate.ts';
import { checkResultOf, type Observation } from './observation.ts';
import type { TrackedService } from './tracked-services.ts';
import { createTransitionFeed } from './transition-feed.ts';

export interface PublisherStores {
  readonly status: StatusWrites;
  readonly samples: SampleWrites;
  /** The feed from which transitions of other writers are read. */
  readonly registry: TransitionReads;
  /** Null: no external time series stores incidents and heartbeats. */
  readonly observations: Pick<Observations, 'incident' | 'heartbeat'> | null;
}

/** The last step of the record. */
export type Publisher = ReturnType<typeof createPublisher>;

/** Makes the publisher. `judgeSample`: what a sample counts as. */
export function createPublisher(
  stores: PublisherStores,
  clock: Clock,
  log: Log,
  judgeSample: (sample: Sample) => Sample = (sample) => sample,
) {
  const status = createStatusWriter(stores.status, clock, log);
  const samples = createSampleWriter(stores.samples, clock, log);
  const feed = createTransitionFeed(stores.registry, clock, log);
  const { observations } = stores;
  let newStatuses: CurrentStatus[] = [];
  let newSamples: Sample[] = [];

  return {
    /** Starts the feed of transitions after the newest one of the registry. */
    loadFeed: feed.load,
    /**
     * Begins to store the statuses of loaded services. Reads of this process find them at once; a copy elsewhere may take
     * half a minute with a million services.
     */
    learn: (currents: readonly CurrentStatus[]): void => void status.put(currents),
    /** Publishes a status with the next {@link flush}. */
    addStatus: (current: CurrentStatus): void => void newStatuses.push(current),
    /** Publishes a sample with the next {@link flush}. */
    addSample: (sample: Sample): void => void newSamples.push(judgeSample(sample)),
    /** Hands the statuses and samples of a batch to their stores. */
    flush(): void {
      if (newSamples.length > 0) samples.write(newSamples);
      if (newStatuses.length > 0) void status.put(newStatuses, true);
      newSamples = [];
      newStatuses = [];
    },
    /**
     * Publishes committed updates. Resolves when the status store has accepted or refused them and the listeners were
     * notified. `isBehind`: another writer has committed transitions that are not in the list.
     */
    async publishCommitted(
      currents: readonly CurrentStatus[],
      transitions: readonly Transition[],
      isBehind: boolean,
    ): Promise<void> {
      await status.put(currents);
      await feed.announce(transitions, isBehind);
    },
    publishStatus: (current: CurrentStatus): Promise<void> => status.put([current]),
    publishIncident: (incident: Incident): void => observations?.incident(incident),
    /** Publishes a committed heartbeat and its sample. */
    publishHeartbeat(
      service: Service,
      { responseTimeMs, dependencies }: HeartbeatWrite,
      { at, status: verdict }: Sample,
    ): void {
      observations?.heartbeat({ service, at, status: verdict, responseTimeMs, dependencies });
    },
    /** Samples that wait for their store, and those that were dropped. */
    sampleFigures: samples.figures,
    remove: status.remove,
    /** Calls `listener` with each transition, in order of position; the status store has it by then. */
    watchTransitions: feed.watch,
    /** Resolves when nothing is in flight; data that a store has refused for now does not count. */
    async idle(): Promise<void> {
      await Promise.all([status.idle(), samples.idle()]);
    },
    stop(): void {
      samples.stop();
      status.stop();
      feed.stop();
    },
  };
}

/** Creates previews of the services that have an update in flight. The next flush publishes them. */
export function createPreviews(publisher: Publisher, clock: Clock, rules: CheckRules) {
  /** A preview has the `seq` of the newest committed status, so that the updates to come are newer. */
  function show(tracked: TrackedService, current: CurrentStatus): void {
    tracked.preview = current;
    publisher.addStatus({ ...current, seq: tracked.current.seq });
  }

  /** Updates the preview of the service by the observation, if it has one. */
  function extend(tracked: TrackedService, observation: Observation): void {
    const result = checkResultOf(observation);
    if (result === null || tracked.preview === null) return;
    const { check } = tracked.service;
    const verdict = judgeAttempt(result, timingOf(check, rules.usual).slowOverMs);
    const next = nextOfCheck(
      tracked.preview,
      observation.via === 'region' ? observation : result,
      verdict,
      clock.now(),
      rulesFor(check, rules),
    );
    if (next !== null) show(tracked, next);
  }

  return {
    /** Publishes a preview from the update in flight and the queue of the service. A second call changes nothing. */
    start(tracked: TrackedService): void {
      if (tracked.inFlight === null || tracked.preview !== null) return;
      show(tracked, tracked.inFlight.update.current);
      for (const { observation } of tracked.queue ?? []) extend(tracked, observation);
    },
    extend,
  };
}

// The queues before the status store and the sample store: both retry while their store is unavailable.

const RETRY_MS = 1_000;

function createStatusWriter(store: StatusWrites, clock: Clock, log: Log) {
  /** The newest refused status of each service. Its size is bounded by the number of services. */
  const refused = new Map<number, CurrentStatus>();
  const inFlight = new Set<Promise<void>>();
  let cancelRetry: (() => void) | null = null;
  let isFailing = false;
  let isStopped = false;

  async function write(statuses: readonly CurrentStatus[], isRoutine: boolean): Promise<void> {
    try {
      await store.put(statuses, isRoutine);
      if (isFailing) log.info({}, 'the status store accepts statuses again');
      isFailing = false;
    } catch (error) {
      if (!isFailing)
        log.error({ error, statuses: statuses.length }, 'the status store accepts no statuses; retrying');
      isFailing = true;
      // A status that was written meanwhile may be newer. The store itself ignores older ones.
      for (const status of statuses)
        refused.set(status.serviceId, newer(refused.get(status.serviceId), status));
      if (!isStopped) cancelRetry ??= clock.after(RETRY_MS, retry);
    }
  }

  function retry(): void {
    cancelRetry = null;
    const statuses = [...refused.values()];
    refused.clear();
    void put(statuses);
  }

  function put(statuses: readonly CurrentStatus[], isRoutine = false): Promise<void> {
    return statuses.length === 0 ? Promise.resolve() : track(write(statuses, isRoutine));
  }

  function track(work: Promise<void>): Promise<void> {
    inFlight.add(work);
    return work.finally(() => inFlight.delete(work));
  }

  return {
    /**
     * Resolves when the store has accepted the statuses, or refused them, in which case they are retried. `isRoutine`: other
     * processes may see them a little later; default: false.
     */
    put,
    remove(serviceId: number): void {
      refused.delete(serviceId);
      const removal = store.remove(serviceId).catch((error: unknown) => {
        log.error({ error, serviceId }, 'the status store could not delete a removed service');
      });
      void track(removal);
    },
    /** Resolves when nothing is in flight; statuses that the store has refused do not count. */
    async idle(): Promise<void> {
      while (inFlight.size > 0) await Promise.all(inFlight);
    },
    stop(): void {
      isStopped = true;
      cancelRetry?.();
    },
  };
}

function newer(a: CurrentStatus | undefined, b: CurrentStatus): CurrentStatus {
  if (a === undefined) return b;
  return a.seq > b.seq || (a.seq === b.seq && a.observedAt > b.observedAt) ? a : b;
}

/** Maximum number of waiting samples, about 10 MiB. The oldest are dropped beyond it, so that a full disk does not stop the record. */
const MAX_WAITING = 100_000;

/** Makes the writer of samples: one batch at a time, in order. */
function createSampleWriter(store: SampleWrites, clock: Clock, log: Log) {
  let waiting: Sample[] = [];
  let dropped = 0;
  let isFailing = false;
  let isStopped = false;
  let endPause = (): void => {};
  const loop = createCoalescingLoop(drain);

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        await store.append(batch);
        if (isFailing) log.info({}, 'samples are stored again');
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.error({ error, samples: batch.length }, 'samples could not be stored; retrying');
        isFailing = true;
        if (isStopped) continue;
        waiting = batch.concat(waiting);
        giveUpOldest();
        await new Promise<void>((resolve) => {
          const cancel = clock.after(RETRY_MS, resolve);
          endPause = () => {
            cancel();
            resolve();
          };
        });
      }
    }
  }

  function giveUpOldest(): void {
    const excess = waiting.length - MAX_WAITING;
    if (excess <= 0) return;
    waiting.splice(0, excess);
    dropped += excess;
    log.error({ samples: excess }, 'samples were dropped: the store was unavailable for too long');
  }

  return {
    /** Takes samples; the array is not used afterwards. */
    write(samples: readonly Sample[]): void {
      for (const sample of samples) waiting.push(sample);
      // The queue is truncated in steps, so that the cost per call stays low.
      if (waiting.length > MAX_WAITING * 1.1) giveUpOldest();
      void loop.run();
    },
    /** Samples that wait for the store, and those that were dropped since the start because too many waited. */
    figures: () => ({ waiting: waiting.length, dropped }),
    /** Resolves when the store has accepted all samples taken before, or they were dropped at stop. */
    idle: loop.idle,
    /** From now on, a batch that the store refuses is dropped. */
    stop(): void {
      isStopped = true;
      endPause();
    },
  };
}
