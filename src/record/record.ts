/** What happens to a result: is it trusted, how is it judged, and who is told (architecture, "The record"). */
import type { Clock } from '../clock.ts';
import { type CurrentStatus, type Transition, unknownStatus } from '../domain/current.ts';
import { describeVerdict } from '../domain/failure-words.ts';
import { judgeAttempt, sampleOf } from '../domain/judge.ts';
import { stepOwnIncident } from '../domain/own-incident.ts';
import { type CheckResult, NO_MEMORY } from '../domain/result.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import type { Verdict } from '../domain/status.ts';
import { nextStatus, transitionBetween } from '../domain/transition.ts';
import type { Log } from '../log.ts';
import type { Judgement, Registry, ServiceChange, ServiceState } from '../store/ports/registry.ts';
import type { SampleStore } from '../store/ports/samples.ts';
import type { StatusStore } from '../store/ports/status.ts';
import { createCommitQueue } from './commit-queue.ts';
import { createControlWatch } from './control-watch.ts';
import { createEntry, type Entry, learn, takeMemory } from './entry.ts';
import { createHeldResults } from './held-results.ts';
import { createMajorityWatch } from './majority-watch.ts';
import type { FailureSpan, ProberState, Ruling } from './prober-watch.ts';
import { createSampleWriter } from './sample-writer.ts';
import { createStatusPublisher } from './status-publisher.ts';
import { createTransitionFeed } from './transition-feed.ts';

/** Results of one service that wait while a change of it is written; a registry that is away must not fill the memory. */
const LONGEST_QUEUE = 16;

/** What the record needs. Durations are milliseconds. */
export interface RecordOptions {
  readonly registry: Pick<
    Registry,
    'commitJudgements' | 'listIncidents' | 'transitionsAfter' | 'lastTransition'
  >;
  readonly status: Pick<StatusStore, 'put' | 'remove'>;
  readonly samples: Pick<SampleStore, 'append'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: {
    /** A good answer over this is `slow`. */
    readonly slowOverMs: number;
    /** Services affected by an outage of the prober are checked again over this. */
    readonly firstSpreadMs: number;
    /** How many control targets are configured; 0: the fleet itself must tell (decisions). */
    readonly controlTargets: number;
  };
  /** True: at least one control target answered. No answer within 3 s, or a rejection, counts as no. */
  readonly askControlTargets: () => Promise<boolean>;
  /** These services are to be checked again, spread over `spreadMs`. */
  readonly onRecheck: (serviceIds: readonly number[], spreadMs: number) => void;
  /** Page of a service on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Whether a vendor's maintenance of the service is at work at a time, epoch milliseconds. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
}

/** The judge of all results. */
export interface ResultRecord {
  /** Takes the services over from the registry and fills the status store; before anything else. */
  load(states: readonly ServiceState[]): Promise<void>;
  /** Applies a change of the list of services; an older revision than the known one changes nothing. */
  applyChange(change: ServiceChange): void;
  /** Takes results in the order of their arrival. Never throws for what a store does. */
  takeResults(results: readonly CheckResult[]): void;
  /** An attempt failed at `failedAt` (epoch milliseconds) without an HTTP response; asks the control targets. */
  noteDoubt(failedAt: number): void;
  /** How the prober's own connection is. */
  prober(): ProberState;
  /** Calls `listener` whenever the prober goes offline or comes back. */
  watchProber(listener: (state: ProberState) => void): () => void;
  /** Calls `listener` with each transition after it is in the registry and in the status store, in order of position. */
  watchTransitions(listener: (transition: Transition) => void): () => void;
  /** Resolves when everything judged so far is written; results on hold are not waited for. */
  idle(): Promise<void>;
  /** Results on hold become suspect samples; resolves when all is written, or given up after a few tries. */
  stop(): Promise<void>;
}

/** Makes the record. */
export function createRecord(options: RecordOptions): ResultRecord {
  const { clock, log, settings, onRecheck } = options;
  const entries = new Map<number, Entry>();
  const held = createHeldResults();
  const affected = new Set<number>();
  const proberListeners = new Set<(state: ProberState) => void>();
  /** Services that are being checked; null: to be counted when somebody asks. */
  let fleetSize: number | null = null;
  let suspectCount = 0;
  let stopped = false;

  const samples = createSampleWriter(options.samples, clock, log);
  const publisher = createStatusPublisher(options.status, clock, log);
  const feed = createTransitionFeed(options.registry, clock, log);
  const commits = createCommitQueue({ registry: options.registry, publisher, feed, clock, log, onSettled });
  const watchOptions = { clock, log, onChange: onRulingsChange };
  const watch =
    settings.controlTargets > 0
      ? createControlWatch({
          ...watchOptions,
          controlTargets: settings.controlTargets,
          ask: options.askControlTargets,
        })
      : createMajorityWatch({ ...watchOptions, fleetSize: () => (fleetSize ??= countChecked(entries)) });
  let toldOnline = true;

  /** What one batch produces; written together at its end. */
  let newSamples: Sample[] = [];
  let newRecords: CurrentStatus[] = [];

  function takeResults(results: readonly CheckResult[]): void {
    if (stopped) return;
    const toMonotonic = clock.monotonic() - clock.now();
    for (const result of results) take(result, toMonotonic);
    endBatch();
  }

  function take(result: CheckResult, toMonotonic: number): void {
    const entry = entries.get(result.serviceId);
    if (entry === undefined || !isWanted(entry, result)) return;
    const answered = result.statusCode !== 0;
    const answer = answered ? (result.firstFailedAt === null ? 'first' : 'later') : 'none';
    const beganAt = result.firstFailedAt ?? result.startedAt;
    watch.note(result.serviceId, beganAt + toMonotonic, result.endedAt + toMonotonic, answer);
    const verdict = judgeAttempt(result, settings.slowOverMs);
    if (!answered) {
      // An own fault is suspect whatever the ruling; it waits all the same, for it may be the first sign of an outage.
      const span = spanOf(result, toMonotonic);
      const ruling = watch.rule(span);
      if (ruling === 'wait') held.hold({ entry, result, span });
      else settle(entry, result, ruling);
    } else if (result.suspect !== null) {
      suspect(result, verdict);
    } else if (isOwnOutage(result, verdict, toMonotonic)) {
      suspect(result, verdict);
      affected.add(result.serviceId);
    } else {
      accept(entry, result, verdict);
    }
  }

  /** Only an `up` is beyond doubt while the prober is offline: an error or a delay may come from the way there. */
  function isOwnOutage(result: CheckResult, verdict: Verdict, toMonotonic: number): boolean {
    if (verdict === 'up') return false;
    return !watch.online || (verdict === 'down' && watch.overlapsOutage(spanOf(result, toMonotonic)));
  }

  function spanOf(result: CheckResult, toMonotonic: number): FailureSpan {
    const takenAt = clock.monotonic();
    const at = (wallAt: number): number => Math.min(wallAt + toMonotonic, takenAt);
    return {
      beganAt: at(result.firstFailedAt ?? result.startedAt),
      // The first failed attempt ended before the last one began. A millisecond for the rounding of wall times.
      provenFrom: at(result.attempts > 1 ? result.startedAt : result.endedAt) - 1,
      endedAt: at(result.endedAt),
      takenAt,
    };
  }

  function settle(entry: Entry, result: CheckResult, ruling: Ruling): void {
    const verdict = judgeAttempt(result, settings.slowOverMs);
    if (ruling === 'clear' && result.suspect === null) {
      accept(entry, result, verdict);
    } else {
      suspect(result, verdict);
      if (ruling === 'own') affected.add(result.serviceId);
    }
  }

  function suspect(result: CheckResult, verdict: Verdict): void {
    suspectCount += 1;
    newSamples.push(sampleOf(result, verdict, true));
  }

  function accept(entry: Entry, result: CheckResult, verdict: Verdict): void {
    newSamples.push(sampleOf(result, verdict, false));
    if (entry.pending === null) {
      judge(entry, result, verdict);
    } else {
      entry.queue ??= [];
      entry.queue.push(result);
      if (entry.queue.length > LONGEST_QUEUE) entry.queue.shift();
    }
  }

  function judge(entry: Entry, result: CheckResult, verdict: Verdict): void {
    const now = clock.now();
    const current = nextStatus(entry.current, result, verdict, now);
    if (current === null) return;
    learn(entry, result.memory);
    const change = changeOf(entry, result, current, now);
    if (change !== null) {
      commits.change(entry, { result, judgement: change });
    } else {
      entry.current = current;
      newRecords.push(current);
      commits.touch(entry);
    }
  }

  /** What must be written at once; null: a plain check, which can wait. */
  function changeOf(
    entry: Entry,
    result: CheckResult,
    current: CurrentStatus,
    now: number,
  ): Judgement | null {
    const { service, current: before } = entry;
    const changed = current.seq !== before.seq;
    if (!changed && entry.incident === null) return null;
    const reason = current.status === 'unknown' ? null : describeVerdict(result, current.status);
    const sourceUrl = options.sourceUrl(service);
    const inMaintenance = options.isInMaintenance(
      service.id,
      current.latest?.checkedAt ?? current.observedAt,
    );
    const step = { service, current, changed, reason, sourceUrl, inMaintenance };
    const incident = stepOwnIncident(entry.incident, step);
    if (!changed && incident === null) return null;
    return {
      serviceId: service.id,
      expectedSeq: before.seq,
      current,
      transition: transitionBetween(service, before, current, now, reason),
      incident,
      memory: takeMemory(entry),
    };
  }

  /** A change was written, or was not to be: the results that waited for it come next. */
  function onSettled(entry: Entry, again: CheckResult | null): void {
    const waiting = again === null ? (entry.queue ?? []) : [again, ...(entry.queue ?? [])];
    entry.queue = null;
    while (waiting.length > 0 && entry.pending === null) {
      const result = waiting.shift();
      if (result !== undefined && isWanted(entry, result))
        judge(entry, result, judgeAttempt(result, settings.slowOverMs));
    }
    if (waiting.length > 0) entry.queue = waiting;
    endBatch();
  }

  function onRulingsChange(): void {
    if (stopped) return;
    held.release(watch.rule, ({ entry, result }, ruling) => {
      if (isWanted(entry, result)) settle(entry, result, ruling);
    });
    endBatch();
    if (toldOnline === watch.online) return;
    toldOnline = watch.online;
    for (const listener of proberListeners) listener(proberState());
  }

  function endBatch(): void {
    const batch = newSamples;
    const records = newRecords;
    newSamples = [];
    newRecords = [];
    samples.write(batch);
    if (records.length > 0) void publisher.put(records);
    commits.run();
    if (affected.size > 0 && watch.online && !stopped) {
      const serviceIds = [...affected];
      affected.clear();
      onRecheck(serviceIds, settings.firstSpreadMs);
    }
  }

  function applyChange({ serviceId, service }: ServiceChange): void {
    const entry = entries.get(serviceId);
    if (service === null) {
      if (entry === undefined) return;
      entry.removed = true;
      entries.delete(serviceId);
      affected.delete(serviceId);
      publisher.remove(serviceId);
    } else if (entry === undefined) {
      const current = unknownStatus(serviceId);
      entries.set(serviceId, createEntry({ service, current, memory: NO_MEMORY, openIncident: null }));
      void publisher.put([current]);
    } else if (service.revision > entry.service.revision) {
      entry.service = service;
    }
    fleetSize = null;
  }

  function proberState(): ProberState {
    const { online, offlineSince, reason } = watch;
    return { online, offlineSince, reason, heldResults: held.size, suspectCount };
  }

  async function idle(): Promise<void> {
    await commits.flush();
    await Promise.all([publisher.idle(), samples.idle()]);
  }

  return {
    async load(states) {
      await feed.load();
      for (const state of states) entries.set(state.service.id, createEntry(state));
      fleetSize = null;
      await publisher.put(states.map(({ current }) => current));
    },
    applyChange,
    takeResults,
    noteDoubt(failedAt) {
      watch.doubt(clock.monotonic() - Math.max(0, clock.now() - failedAt));
    },
    prober: proberState,
    watchProber(listener) {
      proberListeners.add(listener);
      return () => void proberListeners.delete(listener);
    },
    watchTransitions: feed.watch,
    idle,
    async stop() {
      if (!stopped) {
        stopped = true;
        watch.stop();
        for (const { entry, result } of held.drain())
          if (isWanted(entry, result)) suspect(result, judgeAttempt(result, settings.slowOverMs));
        endBatch();
        commits.stop();
        samples.stop();
        publisher.stop();
        feed.stop();
      }
      await idle();
    },
  };
}

/** Whether a result speaks of the service as it is defined now. */
function isWanted({ service, removed }: Entry, { revision }: CheckResult): boolean {
  return !removed && !service.paused && service.revision === revision;
}

function countChecked(entries: ReadonlyMap<number, Entry>): number {
  let count = 0;
  for (const { service } of entries.values())
    if (!service.paused && service.check.kind !== 'heartbeat') count += 1;
  return count;
}
