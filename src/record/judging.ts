/** Judges what is observed of services, each in its turn, and hands on what follows: samples, records, changes. */
import type { Clock } from '../clock.ts';
import type { CurrentStatus } from '../domain/current.ts';
import { describeVerdict } from '../domain/failure-text.ts';
import { describeSilence, latestOfSilence, sampleOfLatest } from '../domain/heartbeat-rules.ts';
import type { Incident } from '../domain/incident.ts';
import { judgeAttempt } from '../domain/judge.ts';
import { stepOwnIncident } from '../domain/own-incident.ts';
import type { CheckResult } from '../domain/result.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import { nextReported, nextStatus, transitionBetween } from '../domain/transition.ts';
import type { Log } from '../log.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { Observations } from '../store/ports/observations.ts';
import type { StorageRefusal } from '../store/ports/storage-health.ts';
import type { StatusUpdate } from '../store/ports/updates.ts';
import { type CommitQueueOptions, createCommitQueue, type SettledChange } from './commit-queue.ts';
import { type Entry, learn, takeMemory } from './entry.ts';
import { isListening, type JudgedHeartbeat } from './heartbeat-desk.ts';
import {
  type HeartbeatObservation,
  isResult,
  type Observation,
  type SilenceObservation,
} from './observation.ts';
import type { SampleWriter } from './sample-writer.ts';
import type { SilenceDeadline } from './silence-watch.ts';
import type { StatusPublisher } from './status-publisher.ts';

/** Results of one service that wait while a change of it is written; a registry that is away must not fill the memory. */
const MAX_QUEUE_LENGTH = 16;
/** Heartbeats of one service that wait likewise; each has a sender who waits too. */
const MAX_HEARTBEATS = 1_000;

/** What judging needs. */
export interface JudgingOptions {
  readonly registry: CommitQueueOptions['registry'];
  readonly publisher: StatusPublisher;
  readonly feed: CommitQueueOptions['feed'];
  readonly samples: SampleWriter;
  readonly observations: Pick<Observations, 'incident' | 'heartbeat'> | null;
  readonly clock: Clock;
  readonly log: Log;
  readonly slowOverMs: number;
  readonly sourceUrl: (service: Service) => string;
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
  /** What a heartbeat changes of the entry as it is now. */
  readonly judgeHeartbeat: (entry: Entry, observation: HeartbeatObservation) => JudgedHeartbeat;
  /** A heartbeat is written; the sample that it leaves, null: none. */
  readonly onHeartbeat: (
    entry: Entry,
    observation: HeartbeatObservation,
    heartbeat: HeartbeatWrite,
    runMs: number | null,
  ) => Sample | null;
  /** The deadline of a service's silence; null: none runs. */
  readonly deadlineOf: (serviceId: number) => SilenceDeadline | null;
  /** Why the registry takes no writes at present; null: it does. */
  readonly refusal: () => StorageRefusal | null;
}

/** The judge of single services. */
export interface Judging {
  /** Judges, or puts in the queue while a change of the service is being written. */
  observe(entry: Entry, observation: Observation): void;
  addSample(sample: Sample): void;
  /** Hands on what was produced since the last call. */
  endBatch(): void;
  /** Resolves when everything judged before is written, or given up at stop. */
  flush(): Promise<void>;
  /** The registry takes writes again: what waits is tried now. */
  retry(): void;
  /** From now on a failing registry is given up after a few tries. */
  stop(): void;
}

/** Makes the judge. */
export function createJudging(options: JudgingOptions): Judging {
  const { publisher, samples, observations, clock, slowOverMs } = options;
  const onIncident = (incident: Incident) => observations?.incident(incident);
  const commits = createCommitQueue({ ...options, onIncident, onSettled, onHeld });
  /** What one batch produces; written together at its end. */
  let newSamples: Sample[] = [];
  let newRecords: CurrentStatus[] = [];

  function observe(entry: Entry, observation: Observation): void {
    const refusal = options.refusal();
    if (refusal !== null && observation.via === 'heartbeat') {
      observation.settle(refusal);
      return;
    }
    if (entry.pending === null) {
      judge(entry, observation);
      return;
    }
    if (entry.shown !== null) show(entry, observation);
    entry.queue ??= [];
    entry.queue.push(observation);
    if (entry.queue.length <= (isResult(observation) ? MAX_QUEUE_LENGTH : MAX_HEARTBEATS)) return;
    const dropped = entry.queue.shift();
    if (dropped?.via === 'heartbeat') dropped.settle('unavailable');
  }

  /** Changes wait for a registry that takes no writes: what checks find is shown meanwhile, as of a plain check. */
  function onHeld(entries: readonly Entry[], refusal: StorageRefusal): void {
    for (const entry of entries) {
      const waiting = entry.queue ?? [];
      entry.queue = waiting.filter(({ via }) => via !== 'heartbeat');
      for (const one of waiting) if (one.via === 'heartbeat') one.settle(refusal);
      showHeld(entry);
    }
    endBatch();
  }

  function showHeld(entry: Entry): void {
    if (entry.pending === null || entry.shown !== null) return;
    entry.shown = entry.pending.judgement.current;
    newRecords.push({ ...entry.shown, seq: entry.current.seq });
    for (const one of entry.queue ?? []) show(entry, one);
  }

  /** The position stays that of the newest record that is written, so that the judgements to come are newer. */
  function show(entry: Entry, observation: Observation): void {
    if (!isResult(observation) || entry.shown === null) return;
    const verdict = judgeAttempt(observation, slowOverMs);
    const next = nextStatus(entry.shown, observation, verdict, clock.now());
    if (next === null) return;
    entry.shown = next;
    newRecords.push({ ...next, seq: entry.current.seq });
  }

  function judge(entry: Entry, observation: Observation): void {
    if (isResult(observation)) judgeResult(entry, observation);
    else if (observation.via === 'heartbeat') judgeHeartbeat(entry, observation);
    else judgeSilence(entry, observation);
  }

  function judgeResult(entry: Entry, result: CheckResult): void {
    const now = clock.now();
    const verdict = judgeAttempt(result, slowOverMs);
    const current = nextStatus(entry.current, result, verdict, now);
    if (current === null) return;
    learn(entry, result.memory);
    if (current.seq !== entry.current.seq || entry.incident !== null) {
      const judgement = judgementOf(entry, current, describeVerdict(result, verdict), now);
      if (judgement.transition !== null || judgement.incident !== null) {
        commit(entry, result, judgement);
        return;
      }
    }
    // A plain check can wait.
    entry.current = current;
    newRecords.push(current);
    commits.touch(entry);
  }

  function judgeHeartbeat(entry: Entry, observation: HeartbeatObservation): void {
    const { current, reason, heartbeat } = options.judgeHeartbeat(entry, observation);
    // Written at once, whatever it changes: its sender waits for that.
    commit(entry, observation, { ...judgementOf(entry, current, reason, clock.now()), heartbeat });
  }

  function judgeSilence(entry: Entry, observation: SilenceObservation): void {
    const { deadlineAt, silenceMs } = observation;
    const deadline = options.deadlineOf(entry.service.id);
    // The service has spoken since.
    if (deadline === null || (deadline.missed === 0 && deadline.at !== deadlineAt)) return;
    const latest = latestOfSilence(deadlineAt);
    const current = nextReported(entry.current, latest, deadlineAt);
    commit(entry, observation, judgementOf(entry, current, describeSilence(silenceMs), clock.now()));
  }

  function commit(entry: Entry, observation: Observation, judgement: StatusUpdate): void {
    commits.change(entry, { observation, judgement: { ...judgement, memory: takeMemory(entry) } });
    if (options.refusal() !== null) showHeld(entry);
  }

  /** What moves an entry to `current`; transition and incident are null where nothing changes there. */
  function judgementOf(
    entry: Entry,
    current: CurrentStatus,
    reason: string | null,
    now: number,
  ): StatusUpdate {
    const { service, current: before } = entry;
    const changed = current.seq !== before.seq;
    const isNew = current !== before && (changed || entry.incident !== null);
    return {
      serviceId: service.id,
      expectedSeq: before.seq,
      current,
      transition: transitionBetween(service, before, current, now, reason),
      incident: isNew ? stepIncident(entry, current, changed, reason) : null,
      memory: null,
    };
  }

  function stepIncident(entry: Entry, current: CurrentStatus, changed: boolean, reason: string | null) {
    const { service, incident } = entry;
    const at = current.latest?.checkedAt ?? current.observedAt;
    const inMaintenance = options.isInMaintenance(service.id, at);
    const sourceUrl = options.sourceUrl(service);
    return stepOwnIncident(incident, { service, current, changed, reason, sourceUrl, inMaintenance });
  }

  /** A change was written, or was not to be: what waited for it comes next. */
  function onSettled(entry: Entry, settled: SettledChange): void {
    const waiting = entry.queue ?? [];
    entry.queue = null;
    entry.shown = null;
    const { observation, heartbeat, end, runMs } = settled;
    if (end === 'again') waiting.unshift(observation);
    else if (end === 'committed') finish(entry, observation, heartbeat, runMs);
    else if (observation.via === 'heartbeat') observation.settle(end === 'lost' ? 'unavailable' : end);
    while (waiting.length > 0 && entry.pending === null) {
      const next = waiting.shift();
      if (next === undefined) continue;
      if (isWanted(entry, next)) judge(entry, next);
      else if (next.via === 'heartbeat') next.settle('gone');
    }
    if (waiting.length > 0) entry.queue = waiting;
    endBatch();
  }

  function finish(
    entry: Entry,
    observation: Observation,
    heartbeat: HeartbeatWrite | undefined,
    runMs: number | null,
  ): void {
    if (observation.via === 'heartbeat' && heartbeat !== undefined) {
      const sample = options.onHeartbeat(entry, observation, heartbeat, runMs);
      if (sample === null) return;
      newSamples.push(sample);
      const { at, status } = sample;
      const { responseTimeMs, dependencies } = heartbeat;
      observations?.heartbeat({ service: entry.service, at, status, responseTimeMs, dependencies });
    } else if (observation.via === 'silence') {
      newSamples.push(sampleOfLatest(entry.service.id, latestOfSilence(observation.deadlineAt), null));
    }
  }

  function endBatch(): void {
    const batch = newSamples;
    const records = newRecords;
    newSamples = [];
    newRecords = [];
    samples.write(batch);
    if (records.length > 0) void publisher.put(records);
    commits.run();
  }

  return {
    observe,
    addSample: (sample) => void newSamples.push(sample),
    endBatch,
    flush: commits.flush,
    retry: commits.retry,
    stop: commits.stop,
  };
}

/** Whether it still speaks of the service as it is defined now. */
export function isWanted({ service, removed }: Entry, observation: Observation): boolean {
  if (removed) return false;
  if (observation.via === 'heartbeat') return true;
  if (observation.via === 'silence') return isListening(service);
  return !service.paused && service.revision === observation.revision;
}
