/**
 * The made-up past of the demonstration. Each service has a list of troubles; samples, transitions and own incidents follow
 * from it by the rules of the record, so that they agree with each other.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../src/domain/durations.ts';
import { type Failure, failureOf } from '../src/domain/failure.ts';
import { readHeartbeat } from '../src/domain/heartbeat/heartbeat-body.ts';
import { isHeartbeatMonitored } from '../src/domain/heartbeat/heartbeat-rules.ts';
import { type Attempt, type CheckResult, NO_TIMING } from '../src/domain/result.ts';
import type { Sample } from '../src/domain/sample.ts';
import type { Service } from '../src/domain/service.ts';
import type { Verdict } from '../src/domain/status.ts';
import { type EvaluationRules, evaluate, type Update } from '../src/record/evaluate.ts';
import type { Observation } from '../src/record/observation.ts';
import type { ServiceState } from '../src/store/ports/services.ts';
import type { StatusUpdate } from '../src/store/ports/updates.ts';
import { createRandom } from './random.ts';
import { type Behaviour, type DemoService, type DemoTiming, latencyMs } from './script.ts';

/** Length of the past. */
export const PAST_DAYS = 90;
/** Time between two checks of the past; the present has shorter ones. */
const STEP_MS = 15 * MINUTE_MS;
/** The newest trouble is over by then, so that the play begins with services that are as its script says. */
const QUIET_MS = 2 * HOUR_MS;
/** Least number of troubles of a service with a vendor, of which there must be enough to say how long the vendor takes. */
const MIN_OF_VENDOR = 6;

/** A service without its past. */
export interface Present {
  readonly state: ServiceState;
  /** In the script; null: it sends heartbeats. */
  readonly cast: DemoService | null;
  /** Of its good answers, milliseconds; null: it reports none. */
  readonly latencyMs: number | null;
}

/** A time in which a service was not well, epoch milliseconds. */
interface Trouble {
  readonly from: number;
  readonly to: number;
  readonly seen: Seen;
}

/** What a check sees. */
interface Seen {
  readonly status: Verdict;
  readonly statusCode: number;
  readonly responseTimeMs: number | null;
  readonly failure: Failure | null;
}

/** The past of one service until `now`: its samples, and the updates of the registry in order. */
export function makePast(
  present: Present,
  now: number,
  timing: DemoTiming,
  rules: EvaluationRules,
): { readonly samples: readonly Sample[]; readonly updates: readonly StatusUpdate[] } {
  const { service } = present.state;
  const random = createRandom(service.slug);
  const troubles = makeTroubles(present, now, timing, random);
  const samples: Sample[] = [];
  const updates: StatusUpdate[] = [];
  const lastAt = now - Math.floor(random() * timing.intervalMs);
  let { state } = present;
  let trouble = 0;
  for (let at = lastAt - PAST_DAYS * DAY_MS + STEP_MS; at <= lastAt; at += STEP_MS) {
    while (at >= (troubles[trouble]?.to ?? Number.POSITIVE_INFINITY)) trouble++;
    const now = troubles[trouble];
    const seen = now !== undefined && at >= now.from ? now.seen : goodAnswer(present, at, random);
    samples.push(sampleOf(service.id, at, seen));
    if (seen.status === state.current.status && state.openIncident === null && at < lastAt) continue;
    const update = evaluate(state, observe(state, at, seen), at, rules);
    if (update === null) continue;
    updates.push(updateOf(state, update, at));
    state = after(state, update);
  }
  return { samples, updates };
}

function goodAnswer({ latencyMs: usual }: Present, at: number, random: () => number): Seen {
  const day = Math.sin((at / DAY_MS) * 2 * Math.PI);
  const scatter = random() ** 6;
  const responseTimeMs = usual === null ? null : Math.round(usual * (1 + 0.12 * day + 0.6 * scatter));
  return { status: 'up', statusCode: 200, responseTimeMs, failure: null };
}

function sampleOf(serviceId: number, at: number, { status, statusCode, responseTimeMs }: Seen): Sample {
  return { serviceId, at, status, latencyMs: responseTimeMs, statusCode, suspect: false };
}

/** The troubles of a service in order. That of one that is not well in the script goes on. */
function makeTroubles(present: Present, now: number, timing: DemoTiming, random: () => number): Trouble[] {
  const { cast, latencyMs: usual } = present;
  const begin = now - PAST_DAYS * DAY_MS;
  const lasting = cast === null ? null : lastingTrouble(cast, now, timing);
  const end = Math.min(now - QUIET_MS, lasting?.from ?? now);
  const count =
    (present.state.service.statusPage === null ? 0 : MIN_OF_VENDOR) + Math.floor(random() ** 1.5 * 9);
  const troubles = Array.from({ length: count }, (): Trouble => {
    const from = begin + DAY_MS + random() * (end - begin - 2 * DAY_MS);
    const lengthMs = (1 + Math.floor(random() ** 5 * 30)) * STEP_MS;
    const seen =
      random() < 0.4 && usual !== null ? slowAnswer(timing, random) : failedCheck(cast, timing, random);
    return { from, to: Math.min(from + lengthMs, end), seen };
  }).toSorted((a, b) => a.from - b.from);
  const apart = troubles.filter(({ from }, index) => from > (troubles[index - 1]?.to ?? begin) + HOUR_MS);
  return lasting === null ? apart : [...apart, lasting];
}

function slowAnswer({ slowOverMs, timeoutMs }: DemoTiming, random: () => number): Seen {
  const responseTimeMs = Math.round(slowOverMs + (timeoutMs - slowOverMs) * (0.1 + 0.6 * random()));
  return { status: 'slow', statusCode: 200, responseTimeMs, failure: null };
}

function failedCheck(cast: DemoService | null, timing: DemoTiming, random: () => number): Seen {
  const causes: readonly Failure[] = [
    statusFailure(503),
    statusFailure(502),
    timeoutFailure(timing),
    failureOf('refused', 'connect', { code: 'connection_refused' }),
  ];
  const failure = cast === null ? null : (causes[Math.floor(random() * causes.length)] ?? null);
  return down(failure);
}

/** A check that failed; null: a heartbeat that reports a failure. */
function down(failure: Failure | null): Seen {
  const { cause } = failure ?? {};
  const statusCode = cause?.code === 'status' ? cause.statusCode : 0;
  return { status: 'down', statusCode, responseTimeMs: statusCode === 0 ? null : 40, failure };
}

/** Null: the service is well when the play begins. */
function lastingTrouble(
  { steps, certificate }: DemoService,
  now: number,
  timing: DemoTiming,
): Trouble | null {
  const behaviour = steps[0]?.behaviour;
  const forever = (agoMs: number, seen: Seen): Trouble => ({
    from: now - agoMs,
    to: Number.POSITIVE_INFINITY,
    seen,
  });
  const failing = (agoMs: number, failure: Failure) => forever(agoMs, down(failure));
  switch (behaviour?.kind) {
    case 'untrusted':
      if (certificate === 'expired')
        return failing(DAY_MS, failureOf('tls', 'tls', { code: 'certificate_expired' }));
      return certificate === 'wrong-name'
        ? failing(6 * DAY_MS, failureOf('tls', 'tls', { code: 'certificate_wrong_name' }))
        : failing(19 * DAY_MS, failureOf('tls', 'tls', { code: 'certificate_self_signed' }));
    case 'hang':
      return failing(3 * HOUR_MS, timeoutFailure(timing));
    case 'answer':
      return lastingAnswer(behaviour, timing, forever, failing);
    default:
      return null;
  }
}

function lastingAnswer(
  behaviour: Extract<Behaviour, { readonly kind: 'answer' }>,
  timing: DemoTiming,
  forever: (agoMs: number, seen: Seen) => Trouble,
  failing: (agoMs: number, failure: Failure) => Trouble,
): Trouble | null {
  const { means, status, latency, redirects } = behaviour;
  if (means === 'slow') {
    const responseTimeMs = latencyMs(latency, timing);
    return forever(2 * DAY_MS, { status: 'slow', statusCode: status, responseTimeMs, failure: null });
  }
  if (means === 'up') return null;
  return redirects === 'endless'
    ? failing(
        30 * HOUR_MS,
        failureOf('protocol', 'first_byte', { code: 'too_many_redirects', maxRedirects: 5 }),
      )
    : failing(5 * HOUR_MS, statusFailure(status));
}

function statusFailure(statusCode: number): Failure {
  return failureOf('status', 'first_byte', { code: 'status', statusCode });
}

function timeoutFailure({ timeoutMs }: DemoTiming): Failure {
  return failureOf('timeout', 'first_byte', { code: 'timeout', phase: 'first_byte', timeoutMs });
}

/** The check or heartbeat at `at`. */
function observe({ service, memory }: ServiceState, at: number, seen: Seen): Observation {
  if (isHeartbeatMonitored(service)) return heartbeatOf(service, at, seen);
  const { kind } = service.check;
  const attempt: Attempt = {
    startedAt: at,
    answered: seen.statusCode > 0,
    statusCode: seen.statusCode,
    responseTimeMs: seen.responseTimeMs,
    timing: { ...NO_TIMING, totalMs: seen.responseTimeMs },
    failure: seen.failure,
    reported: null,
    reportedWord: null,
    blocked: false,
    via: kind === 'heartbeat' ? 'root' : kind,
    certificateExpiresAt: null,
    retryAfterMs: null,
    suspect: null,
    lostMs: 0,
    headUnproven: false,
    memory,
  };
  return {
    ...attempt,
    serviceId: service.id,
    revision: service.revision,
    attempts: seen.status === 'down' ? 3 : 1,
    firstFailedAt: seen.status === 'down' ? at : null,
    endedAt: at,
    loopDelayMs: 0,
  } satisfies CheckResult;
}

function heartbeatOf({ domain, accountId }: Service, at: number, { status }: Seen): Observation {
  const body = JSON.stringify({ domain, status: status === 'up' ? 'ok' : 'failing' });
  const reading = readHeartbeat(body, 'beat');
  if (!reading.ok || accountId === null) throw new Error(`${domain} has no valid heartbeat`);
  return { via: 'heartbeat', received: { report: reading.report, accountId, arrivedAt: at, body } };
}

function updateOf(
  { service, current }: ServiceState,
  { heartbeat, ...update }: Update,
  recordedAt: number,
): StatusUpdate {
  return {
    serviceId: service.id,
    expectedSeq: current.seq,
    recordedAt,
    current: update.current,
    transition: update.transition,
    incident: update.incident,
    memory: update.memory,
    ...(heartbeat === null ? {} : { heartbeat }),
  };
}

function after(state: ServiceState, { current, incident, memory }: Update): ServiceState {
  const open = incident ?? state.openIncident;
  return {
    ...state,
    current,
    memory: memory ?? state.memory,
    openIncident: open?.status === 'resolved' ? null : open,
  };
}
