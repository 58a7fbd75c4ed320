/**
 * What an observation changes of its service. Pure: no I/O and no clock, and the same arguments give the same update.
 */
import type { CurrentStatus, Transition } from '../domain/current.ts';
import type { HeartbeatReport } from '../domain/heartbeat-body.ts';
import {
  type Beat,
  checkedAtOf,
  isHeartbeatMonitored,
  judgeHeartbeat,
  latestOfBeat,
  latestOfSilence,
  reasonOfHeartbeat,
  responseTimeOf,
  sampleOfLatest,
} from '../domain/heartbeat-rules.ts';
import type { Incident, StatusReason } from '../domain/incident.ts';
import { judgeAttempt, reasonOfVerdict } from '../domain/judge.ts';
import { stepOwnIncident } from '../domain/own-incident.ts';
import { type CheckResult, isSameMemory, type ProbeMemory } from '../domain/result.ts';
import type { Sample } from '../domain/sample.ts';
import type { Service } from '../domain/service.ts';
import { nextReported, nextStatus, transitionBetween } from '../domain/transition.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { ServiceState } from '../store/ports/services.ts';
import {
  type HeartbeatObservation,
  type MissedHeartbeat,
  type Observation,
  type ReceivedHeartbeat,
  type RegionalResult,
  setBackLimit,
} from './observation.ts';

/** Rules of the evaluation. The two functions must be deterministic: the same arguments give the same result. */
export interface EvaluationRules {
  /** A good response that takes longer is `slow`, milliseconds. */
  readonly slowOverMs: number;
  /** URL of the service's page on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Whether a maintenance of the vendor is in progress at `at`, epoch milliseconds. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
}

/** What one observation changes of its service. */
export interface Update {
  /** The current status after it; the very object from before where it says nothing new of the status. */
  readonly current: CurrentStatus;
  /** Null: the status stays. */
  readonly transition: Omit<Transition, 'position'> | null;
  /** The own incident to write; null: nothing changes about it. */
  readonly incident: Incident | null;
  /** What the check has learned; null: nothing new. */
  readonly memory: ProbeMemory | null;
  /** The heartbeat as it is stored; null: the observation was none. */
  readonly heartbeat: HeartbeatWrite | null;
  /** The sample of a heartbeat or a missed one; null: it leaves none, or is a check, whose sample connectivity wrote. */
  readonly sample: Sample | null;
  /** It only refreshes the latest check: it may be published before it is committed. */
  readonly isRoutine: boolean;
}

/**
 * Evaluates an observation at `now`, epoch milliseconds. Null: nothing changes, since the current status is as new as
 * the check.
 */
export function evaluate(
  state: ServiceState,
  observation: Observation,
  now: number,
  rules: EvaluationRules,
): Update | null {
  if (observation.via === 'heartbeat') return evaluateHeartbeat(state, observation, now, rules);
  if (observation.via === 'missed') return evaluateMissed(state, observation, now, rules);
  return evaluateCheck(state, observation, now, rules);
}

function evaluateCheck(
  state: ServiceState,
  observation: CheckResult | RegionalResult,
  now: number,
  rules: EvaluationRules,
): Update | null {
  const result = observation.via === 'region' ? observation.result : observation;
  const verdict = judgeAttempt(result, rules.slowOverMs);
  const current = nextStatus(state.current, result, verdict, setBackLimit(observation, now));
  if (current === null) return null;
  const memory = isSameMemory(state.memory, result.memory) ? null : result.memory;
  const mayMove = current.seq !== state.current.seq || state.openIncident !== null;
  const reason = mayMove ? reasonOfVerdict(result, verdict) : null;
  const { transition, incident } = mayMove ? move(state, current, reason, now, rules) : UNMOVED;
  const isRoutine = transition === null && incident === null;
  return { current, transition, incident, memory, heartbeat: null, sample: null, isRoutine };
}

function evaluateHeartbeat(
  state: ServiceState,
  { received }: HeartbeatObservation,
  now: number,
  rules: EvaluationRules,
): Update {
  const { report, arrivedAt } = received;
  const beat = beatOf(report, arrivedAt, rules.slowOverMs);
  const isMonitored = isHeartbeatMonitored(state.service);
  const counted = isMonitored && !isOutdated(state, report) && !isOvertaken(state, received, now);
  const latest = beat === null ? null : latestOfBeat(beat);
  const current = counted && latest !== null ? nextReported(state.current, latest, arrivedAt) : state.current;
  const reason = beat === null ? null : reasonOfHeartbeat(report, beat);
  return {
    current,
    ...move(state, current, reason, now, rules),
    memory: null,
    heartbeat: heartbeatWriteOf(received, beat, counted),
    // A heartbeat that its owner does not let count leaves no sample among those of our checks.
    sample:
      latest !== null && isMonitored
        ? sampleOfLatest(state.service.id, latest, beat?.responseTimeMs ?? null)
        : null,
    isRoutine: false,
  };
}

function evaluateMissed(
  state: ServiceState,
  { deadlineAt, silenceMs }: MissedHeartbeat,
  now: number,
  rules: EvaluationRules,
): Update {
  const latest = latestOfSilence(deadlineAt);
  const current = nextReported(state.current, latest, deadlineAt);
  return {
    current,
    ...move(state, current, { code: 'no_heartbeat', silenceMs }, now, rules),
    memory: null,
    heartbeat: null,
    sample: sampleOfLatest(state.service.id, latest, null),
    isRoutine: false,
  };
}

const UNMOVED = { transition: null, incident: null } as const;

/** The transition and the step of the own incident from the state to `current`. */
function move(
  { service, current: before, openIncident }: ServiceState,
  current: CurrentStatus,
  reason: StatusReason | null,
  now: number,
  { sourceUrl, isInMaintenance }: EvaluationRules,
): Pick<Update, 'transition' | 'incident'> {
  const changed = current.seq !== before.seq;
  if (current === before || (!changed && openIncident === null)) return UNMOVED;
  const at = current.latest?.checkedAt ?? current.observedAt;
  return {
    transition: transitionBetween(service, before, current, now, reason),
    incident: stepOwnIncident(openIncident, {
      service,
      current,
      changed,
      reason,
      sourceUrl: sourceUrl(service),
      inMaintenance: isInMaintenance(service.id, at),
    }),
  };
}

/** The heartbeat by itself; null: a start, which says nothing of how the service is. */
function beatOf(report: HeartbeatReport, arrivedAt: number, slowOverMs: number): Beat | null {
  if (report.word === null) return null;
  const responseTimeMs = responseTimeOf(report.dependencies);
  return {
    verdict: judgeHeartbeat(report.word, responseTimeMs, slowOverMs),
    reported: report.reported,
    responseTimeMs,
    checkedAt: checkedAtOf(report, arrivedAt),
  };
}

function heartbeatWriteOf(
  { report, accountId, arrivedAt, body, inboxId }: ReceivedHeartbeat,
  beat: Beat | null,
  counted: boolean,
): HeartbeatWrite {
  const { kind, timestamp, dependencies, run } = report;
  return {
    accountId,
    kind,
    arrivedAt,
    timestamp,
    counted,
    verdict: beat?.verdict ?? null,
    responseTimeMs: beat?.responseTimeMs ?? null,
    dependencies,
    run,
    body,
    ...(inboxId === undefined ? {} : { inboxId }),
  };
}

/**
 * Whether a later heartbeat was evaluated before this one, which came through the inbox. Order goes by arrival
 * (decisions, Heartbeats). An arrival in the future shows that our clock was set back, and is no evidence.
 */
function isOvertaken(
  { lastArrivedAt = null }: ServiceState,
  { inboxId, arrivedAt }: ReceivedHeartbeat,
  now: number,
): boolean {
  return inboxId !== undefined && lastArrivedAt !== null && lastArrivedAt <= now && arrivedAt < lastArrivedAt;
}

/** Whether an earlier heartbeat had a later timestamp; only where both have one (decisions, Heartbeats). */
function isOutdated({ newestTimestamp = null }: ServiceState, { timestamp, kind }: HeartbeatReport): boolean {
  return kind !== 'start' && timestamp !== null && newestTimestamp !== null && timestamp < newestTimestamp;
}
