/** Receives check results: applies the offline rule, keeps them as samples, and passes on those that count. */
import { getOrInsert } from '../async/bounded-map.ts';
import type { Clock } from '../clock.ts';
import { type CheckTiming, isCheckedFrom, regionsOfCheck, timingOf } from '../domain/check-target.ts';
import type { CheckResult, RuledResult } from '../domain/result.ts';
import type { CheckDefinition } from '../domain/service.ts';
import { judgeAttempt, type sampleOf } from '../domain/status/judge.ts';
import type { Connectivity } from './connectivity.ts';
import { createResultBatch, type ResultBatch } from './observation.ts';
import type { Publisher } from './publisher.ts';
import type { RegionOptions, SampleRegions } from './regions.ts';
import { isOfRevision, type TrackedService, type TrackedServices } from './tracked-services.ts';
import type { UpdatePipeline } from './update-pipeline.ts';

/** Maximum time for which results wait until the feed of changes delivers their revision. */
const MAX_AHEAD_MS = 5_000;
const AHEAD_RETRY_MS = 250;

export type ResultIntake = ReturnType<typeof createResultIntake>;

export function createResultIntake(options: {
  readonly services: TrackedServices;
  readonly connectivity: Connectivity;
  readonly pipeline: UpdatePipeline;
  readonly publisher: Publisher;
  /** The settings `checks.*`: the times of services that set none. */
  readonly usual: CheckTiming;
  /** The rules that join the verdicts of the regions into one status; null: there is only one region. */
  readonly regions: RegionOptions | null;
  /** Which samples name their region; absent: none. */
  readonly sampleRegions?: Pick<SampleRegions, 'nameOf'> | undefined;
  readonly toSample: typeof sampleOf;
  /** Runs `work` when the services are loaded, in the order of the calls. */
  readonly whenLoaded: (serviceIds: readonly number[], work: () => void) => void;
  /** Called after each batch of results. */
  readonly endBatch: () => void;
  readonly clock: Clock;
}) {
  const { services, connectivity, pipeline, publisher, usual, regions, toSample, endBatch, clock } = options;
  let isStopped = false;

  function take(results: readonly CheckResult[]): void {
    if (isStopped) return;
    const toMonotonic = clock.monotonic() - clock.now();
    for (const result of results) {
      const tracked = services.get(result.serviceId);
      if (tracked === undefined || !isOfRevision(tracked, result)) continue;
      const trust = connectivity.rule(result, toMonotonic);
      if (trust !== 'held') observe(tracked, result, trust === 'suspect');
    }
    endBatch();
  }

  function takeRuled(results: readonly RuledResult[], deliveredAt = clock.now()): Promise<boolean> {
    const batch = createResultBatch();
    options.whenLoaded(
      results.map(({ result }) => result.serviceId),
      () => observeRuled(results, batch, deliveredAt, clock.monotonic() + MAX_AHEAD_MS),
    );
    return batch.ended;
  }

  /** Takes over the hold that created the batch. Results that are ahead of the feed of changes wait until `deadlineMs`. */
  function observeRuled(
    results: readonly RuledResult[],
    batch: ResultBatch,
    deliveredAt: number,
    deadlineMs: number,
  ): void {
    if (isStopped) {
      batch.release(false);
      return;
    }
    const ahead: RuledResult[] = [];
    const votingOn = readVoting();
    for (const ruled of results) {
      const { result, region, suspect } = ruled;
      const tracked = services.get(result.serviceId);
      if (tracked === undefined || tracked.service.revision < result.revision) ahead.push(ruled);
      // A node of an earlier version may check a service from a region that it does not name.
      else if (isOfRevision(tracked, result) && isCheckedFrom(tracked.service.check, region)) {
        addSample(result, suspect, region);
        const voting = votingOn(tracked.service.check);
        if (!suspect)
          pipeline.observe(tracked, { via: 'region', result, region, deliveredAt, voting }, null, batch);
      }
    }
    endBatch();
    if (ahead.length === 0 || clock.monotonic() >= deadlineMs) batch.release(true);
    else clock.after(AHEAD_RETRY_MS, () => observeRuled(ahead, batch, deliveredAt, deadlineMs));
  }

  /** Returns the regions that have a vote on a service, for the results of one batch. */
  function readVoting(): (check: CheckDefinition) => readonly string[] {
    const byInterval = new Map<number, readonly string[]>();
    return (check) => {
      if (regions === null) return [];
      const { intervalMs } = timingOf(check, usual);
      return regionsOfCheck(
        check,
        getOrInsert(byInterval, intervalMs, () => regions.voting(intervalMs)),
      );
    };
  }

  function observe(tracked: TrackedService, result: CheckResult, suspect: boolean): void {
    addSample(result, suspect);
    if (!suspect) pipeline.observe(tracked, result);
  }

  function addSample(result: CheckResult, suspect: boolean, region?: string): void {
    const named = options.sampleRegions?.nameOf(region);
    const slowOverMs = slowOverOf(services, result.serviceId, usual);
    publisher.addSample(toSample(result, judgeAttempt(result, slowOverMs), suspect, named));
  }

  return {
    /** Takes results of this process in the order of their arrival. Never throws because of a store. */
    take,
    /** Takes results to which their node has applied the offline rule; see `takeRuled` of the record. */
    takeRuled,
    /** Takes a result that was held until the offline rule was known; the caller ends the batch. */
    observe,
    /** Keeps a result as a sample. `region` absent: the check was made by this process. */
    addSample,
    /** Results that arrive from now on are dropped. */
    stop(): void {
      isStopped = true;
    },
  };
}

/** From which response time on a service is slow, milliseconds. */
export function slowOverOf(services: TrackedServices, serviceId: number, usual: CheckTiming): number {
  return services.get(serviceId)?.service.check.slowOverMs ?? usual.slowOverMs;
}
