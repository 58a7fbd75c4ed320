/** Computes the update of a service from an observation. Pure: no I/O and no clock; equal arguments give equal updates. */
import { type CheckTiming, freshMsOf, timingOf } from '../domain/check-target.ts';
import type { HeartbeatReport } from '../domain/heartbeat/heartbeat-body.ts';
import {
  type Beat,
  checkedAtOf,
  isHeartbeatMonitored,
  judgeHeartbeat,
  latestOfBeat,
  latestOfSilence,
  reasonOfHeartbeat,
  reasonOfSilence,
  responseTimeOf,
  sampleOfLatest,
} from '../domain/heartbeat/heartbeat-rules.ts';
import type { Incident, StatusReason } from '../domain/incident/incident.ts';
import { stepOwnIncident } from '../domain/own-incident.ts';
import { type CheckResult, isSameMemory, joinMemory, NO_MEMORY, type ProbeMemory } from '../domain/result.ts';
import type { Sample } from '../domain/sample.ts';
import type { CheckDefinition, Service } from '../domain/service.ts';
import { failingRegions, newestCheckOf } from '../domain/status/agree.ts';
import type { CurrentStatus, NewTransition } from '../domain/status/current.ts';
import { judgeAttempt, reasonOfCheck, reasonOfVerdict } from '../domain/status/judge.ts';
import { nextRegionalStatus, type RegionRules, regionsToAsk } from '../domain/status/regional-status.ts';
import { nextReported, nextStatus, transitionBetween } from '../domain/status/transition.ts';
import type { Verdict } from '../domain/status.ts';
import type { HeartbeatWrite } from '../store/ports/heartbeats.ts';
import type { ServiceState } from '../store/ports/services.ts';
import {
  type AloneObservation,
  checkResultOf,
  type HeartbeatObservation,
  type MissedHeartbeat,
  type Observation,
  type ReceivedHeartbeat,
  type RegionalResult,
  setBackLimit,
} from './observation.ts';

/** Rules of the evaluation. The two functions must be deterministic: equal arguments give equal results. */
export interface EvaluationRules {
  /** The settings `checks.*`: the times of services that set none. */
  readonly usual: CheckTiming;
  /** URL of the service's page on this site, for its own incidents. */
  readonly sourceUrl: (service: Service) => string;
  /** Returns true if a maintenance of the vendor was in progress at `at`, epoch milliseconds, which may have passed. */
  readonly isInMaintenance: (serviceId: number, at: number) => boolean;
  /** The quorum of regions; null: all results count as those of one region. */
  readonly regions: Pick<RegionRules, 'quorum'> | null;
  /** Returns true if a service that depends on others was down by itself since a time, epoch milliseconds; absent: it was. */
  readonly wasAlone?: (service: Service, since: number) => boolean;
}

/** The rules by which the status of a service follows from a check. */
export type CheckRules = Pick<EvaluationRules, 'usual' | 'regions'>;

/** The changes to a service that one observation makes. */
export interface Update {
  /** The current status after the observation; the same object as before if nothing about the status is new. */
  readonly current: CurrentStatus;
  /** Null: the status has not changed. */
  readonly transition: NewTransition | null;
  /** The own incident to write; null: it has not changed. */
  readonly incident: Incident | null;
  /** The new probe memory; null: it has not changed. */
  readonly memory: ProbeMemory | null;
  /** The heartbeat to store; null: the observation is not a heartbeat. */
  readonly heartbeat: HeartbeatWrite | null;
  /**
   * The sample of a heartbeat or a missed heartbeat; null: it has none, or the observation is a check, whose sample
   * connectivity writes.
   */
  readonly sample: Sample | null;
  /** True: the update only refreshes the latest check, so it may be published before it is committed. */
  readonly isRoutine: boolean;
  /** The regions that must re-check a failure that the quorum has not confirmed; absent: none. */
  readonly recheckRegions?: readonly string[];
}

/**
 * Evaluates an observation at `now`, epoch milliseconds. Null: nothing changes, because the current status is at least
 * as new as the check.
 */
export function evaluate(
  state: ServiceState,
  observation: Observation,
  now: number,
  rules: EvaluationRules,
): Update | null {
  if (observation.via === 'heartbeat') return evaluateHeartbeat(state, observation, now, rules);
  if (observation.via === 'missed') return evaluateMissed(state, observation, now, rules);
  if (observation.via === 'alone') return evaluateAlone(state, observation, rules);
  return evaluateCheck(state, observation, now, rules);
}

function evaluateCheck(
  state: ServiceState,
  observation: CheckResult | RegionalResult,
  now: number,
  rules: EvaluationRules,
): Update | null {
  const result = checkResultOf(observation);
  const { check } = state.service;
  const verdict = judgeAttempt(result, timingOf(check, rules.usual).slowOverMs);
  const current = nextOfCheck(state.current, observation, verdict, now, rulesFor(check, rules));
  if (current === null) return null;
  const learned = observation.via === 'region' ? joinMemory(state.memory, result.memory) : result.memory;
  const memory = isSameMemory(state.memory, learned) ? null : learned;
  const mayMove = current.seq !== state.current.seq || state.openIncident !== null;
  const { transition, incident } = mayMove
    ? moveByCheck(state, current, { observation, verdict, now }, rules)
    : UNMOVED;
  const isRoutine = transition === null && incident === null;
  const update = { current, transition, incident, memory, heartbeat: null, sample: null, isRoutine };
  if (observation.via !== 'region' || verdict !== 'down') return update;
  const recheckRegions = regionsToAsk(state.current, current, { ...observation, verdict });
  return recheckRegions.length === 0 ? update : { ...update, recheckRegions };
}

/** The rules by which regions agree on a service with this check; null: there is one region. */
export function rulesFor(check: CheckDefinition, { usual, regions }: CheckRules): RegionRules | null {
  if (regions === null) return null;
  return { ...regions, freshMs: freshMsOf(timingOf(check, usual)), among: check.regions ?? null };
}

/** The status after a check; null: the current one is at least as new. */
// biome-ignore lint/complexity/useMaxParams: called for each result, for which an object would be made
export function nextOfCheck(
  current: CurrentStatus,
  observation: CheckResult | RegionalResult,
  verdict: Verdict,
  now: number,
  rules: RegionRules | null,
): CurrentStatus | null {
  const limit = setBackLimit(observation, now);
  return observation.via !== 'region' || rules === null
    ? nextStatus(current, checkResultOf(observation), verdict, limit)
    : nextRegionalStatus(current, { ...observation, verdict }, limit, rules);
}

/** A check with its verdict, and when it is evaluated, epoch milliseconds. */
interface JudgedCheck {
  readonly observation: CheckResult | RegionalResult;
  readonly verdict: Verdict;
  readonly now: number;
}

function moveByCheck(
  state: ServiceState,
  current: CurrentStatus,
  { observation, verdict, now }: JudgedCheck,
  rules: EvaluationRules,
) {
  const { regions, latest } = current;
  const result = checkResultOf(observation);
  const isOne = observation.via !== 'region' || regions === undefined;
  const ofLatest = latest === null ? null : reasonOfCheck(latest);
  const reason = isOne ? reasonOfVerdict(result, verdict) : ofLatest;
  const cause = { reason, now, beganAt: result.firstFailedAt ?? result.startedAt };
  const moved = move(state, current, cause, rules);
  if (isOne) return moved;
  const isNew = current.status !== state.current.status;
  const { votes = false } = regions.find(({ region }) => region === observation.region) ?? {};
  // While the service fails from one region only, checks from that region do not count as good checks.
  const isStep = isNew || current.status === 'down' || (votes && verdict !== 'down');
  const failing = newestCheckOf(failingRegions(current), 'down');
  const transition =
    moved.transition === null || isNew
      ? moved.transition
      : { ...moved.transition, reason: failing === null ? null : reasonOfCheck(failing) };
  return { transition, incident: isStep ? moved.incident : null };
}

function evaluateHeartbeat(
  state: ServiceState,
  { received }: HeartbeatObservation,
  now: number,
  rules: EvaluationRules,
): Update {
  const { report, arrivedAt } = received;
  const beat = beatOf(report, arrivedAt, timingOf(state.service.check, rules.usual).slowOverMs);
  const isMonitored = isHeartbeatMonitored(state.service);
  const counted = isMonitored && !isOutdated(state, report) && !isOvertaken(state, received, now);
  const latest = beat === null ? null : latestOfBeat(beat);
  const current =
    counted && latest !== null ? nextReported(state.current, latest, arrivedAt, now) : state.current;
  const reason = beat === null ? null : reasonOfHeartbeat(report, beat);
  return {
    current,
    ...move(state, current, { reason, now, beganAt: latest?.checkedAt ?? arrivedAt }, rules),
    memory: null,
    heartbeat: heartbeatWriteOf(received, beat, counted),
    // A heartbeat that does not count, by its owner's choice, leaves no sample among those of the checks.
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
  const current = nextReported(state.current, latest, deadlineAt, now);
  const reason = reasonOfSilence(state.service.check, deadlineAt, silenceMs);
  return {
    current,
    ...move(state, current, { reason, now, beganAt: deadlineAt }, rules),
    memory: null,
    heartbeat: null,
    sample: sampleOfLatest(state.service.id, latest, null),
    isRoutine: false,
  };
}

/** The own incident of a service that is down by itself; null: it has one, or is down no more. */
function evaluateAlone(
  { service, current, openIncident }: ServiceState,
  { startedAt, reason }: AloneObservation,
  rules: EvaluationRules,
): Update | null {
  if (current.status !== 'down' || current.latest === null) return null;
  const incident = stepOwnIncident(openIncident, {
    ...{ service, current, changed: true, reason: reason ?? reasonOfCheck(current.latest) },
    sourceUrl: rules.sourceUrl(service),
    inMaintenance: rules.isInMaintenance(service.id, startedAt ?? current.since ?? current.observedAt),
    ...(startedAt === null ? {} : { startedAt }),
  });
  if (incident === null) return null;
  return {
    current,
    transition: null,
    incident,
    memory: null,
    heartbeat: null,
    sample: null,
    isRoutine: false,
  };
}

const UNMOVED = { transition: null, incident: null } as const;

/** The observation behind a change of the status. */
interface Cause {
  readonly reason: StatusReason | null;
  /** The time at which it is evaluated, epoch milliseconds. */
  readonly now: number;
  /**
   * Start of the first attempt of the check, epoch milliseconds. It decides whether the check was made within a maintenance, however
   * late it is evaluated.
   */
  readonly beganAt: number;
}

/** The transition and the step of the own incident from the state to `current`. */
function move(
  state: ServiceState,
  current: CurrentStatus,
  { reason, now, beganAt }: Cause,
  rules: EvaluationRules,
) {
  const { service, current: before } = state;
  const openIncident = state.openIncident ?? lateIncident(state, current, rules);
  if (current === before || (current.seq === before.seq && openIncident === null)) return UNMOVED;
  return {
    transition: transitionBetween(service, before, current, { recordedAt: now, reason }),
    incident: stepOwnIncident(openIncident, {
      service,
      current,
      changed: current.status !== before.status,
      reason,
      sourceUrl: rules.sourceUrl(service),
      inMaintenance: rules.isInMaintenance(service.id, beganAt),
      isAlone: service.dependsOn === undefined || current.latest?.source === 'heartbeat',
    }),
  };
}

/** The incident of an outage that has ended before it was known that the service was down by itself; null: there was none. */
function lateIncident(
  { service, current: before, openIncident }: ServiceState,
  { status }: CurrentStatus,
  rules: EvaluationRules,
): Incident | null {
  const since = before.since ?? before.observedAt;
  if (service.dependsOn === undefined || before.status !== 'down' || status === 'down') return null;
  if (rules.wasAlone?.(service, since) === false) return null;
  const alone = { via: 'alone', startedAt: null, reason: null } as const;
  return (
    evaluateAlone({ service, current: before, openIncident, memory: NO_MEMORY }, alone, rules)?.incident ??
    null
  );
}

/** The verdict of a heartbeat alone; null: it starts a run, which says nothing about the state of the service. */
function beatOf(report: HeartbeatReport, arrivedAt: number, slowOverMs: number): Beat | null {
  if (report.word === null) return null;
  const responseTimeMs = responseTimeOf(report);
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
 * Returns true if a later heartbeat was evaluated before this one, which came through the inbox. Heartbeats are ordered by
 * arrival (decisions, Heartbeats). An arrival in the future shows that the clock was set back, and is ignored.
 */
function isOvertaken(
  { lastArrivedAt = null }: ServiceState,
  { inboxId, arrivedAt }: ReceivedHeartbeat,
  now: number,
): boolean {
  return inboxId !== undefined && lastArrivedAt !== null && lastArrivedAt <= now && arrivedAt < lastArrivedAt;
}

/** Returns true if an earlier heartbeat had a later timestamp; only where both have one (decisions, Heartbeats). */
function isOutdated({ newestTimestamp = null }: ServiceState, { timestamp, kind }: HeartbeatReport): boolean {
  return kind !== 'start' && timestamp !== null && newestTimestamp !== null && timestamp < newestTimestamp;
}
