/**
 * One attempt of a check: which requests are sent to a service, in which order, and what the responses mean (decisions,
 * "What a check is").
 */
import { type Clock, systemClock } from '../clock.ts';
import type { AttemptOptions, CheckTarget, RunAttempt } from '../domain/check-target.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { type Failure, failureOf } from '../domain/failure.ts';
import { type Attempt, NO_TIMING, type ProbeMemory } from '../domain/result.ts';
import { type AddressGuard, createAddressGuard } from '../outbound/address-guard.ts';
import { createTrustStore } from '../outbound/connection.ts';
import { type Deadline, startDeadline } from '../outbound/deadline.ts';
import { createDestinationCache, type Destination } from '../outbound/destination.ts';
import type { DialParts } from '../outbound/dial.ts';
import { createResolver } from '../outbound/resolver.ts';
import { decodeBody } from '../outbound/response-body.ts';
import { readRetryAfter } from '../outbound/response-head.ts';
import { sendRequest, userAgentOf, type WebRequest, type WebResponse } from '../outbound/send-request.ts';
import { createAbortSwitch } from './abort-switch.ts';
import {
  type HealthBody,
  isBlocked,
  isUnanswered,
  judgeHealth,
  judgeRoot,
  MAX_HEALTH_BYTES,
  refusesHead,
} from './response-rules.ts';

/** Settings of a prober. Plain data that can be sent to a thread. */
export interface ProberSettings {
  /** The product's version, for the User-Agent. */
  readonly version: string;
  /** `http.siteUrl`, for the User-Agent. */
  readonly siteUrl: string;
  /** `checks.allowPrivate`: CIDR blocks. */
  readonly allowPrivate: readonly string[];
  /** `checks.ports`. */
  readonly ports: readonly number[];
  /** `checks.nameservers`: `ip` or `ip:port`; empty: the system's. */
  readonly nameservers: readonly string[];
  /** `checks.ownersMayProbePrivate`. */
  readonly ownersMayProbePrivate: boolean;
  /** `checks.concurrency`: slots of the host, 1 or more. */
  readonly concurrency: number;
  /** Instead of `/etc/hosts`, for tests. */
  readonly hostsFile?: string;
}

/** The prober of a thread. */
export type Prober = ReturnType<typeof createProber>;

/** Maximum number of redirects (decisions, "A redirect is followed, at most 5"). */
const MAX_REDIRECTS = 5;
/** Time until `/api/health` is requested again after it was missing, milliseconds. */
const HEALTH_RETRY_MS = HOUR_MS;
/** Maximum number of cached destinations. */
const MAX_CACHED_DESTINATIONS = 8192;

/**
 * Creates a prober. `onForbidden` is called for each refused address. Throws if a CIDR block or a name server of the
 * settings is invalid.
 */
export function createProber(
  settings: ProberSettings,
  clock: Clock = systemClock,
  onForbidden?: DialParts['onForbidden'],
) {
  const parts = { clock, resolver: createResolver({ ...settings, clock }), onForbidden };
  const trusts = createTrustStore();
  const guardOf = createTargetGuards(settings);
  const destinationOf = createDestinationCache(MAX_CACHED_DESTINATIONS);
  const abortSwitch = createAbortSwitch(settings.concurrency);
  const busy = new Uint8Array(settings.concurrency);
  // Services whose HEAD got no response in the previous attempt. At most one entry for each service of the thread.
  const unansweredHeads = new Set<number>();
  const userAgent = userAgentOf(settings.version, settings.siteUrl);
  const rootHeaders = ['user-agent', userAgent, 'accept', '*/*'];
  const healthHeaders = [
    'user-agent',
    userAgent,
    'accept',
    'application/json, */*;q=0.5',
    'accept-encoding',
    'identity',
  ];

  const runAttempt: RunAttempt = async (target, options) => {
    const { slot, signal } = options;
    signal.throwIfAborted();
    if (busy[slot] !== 0) throw new RangeError(`slot ${slot} is taken or does not exist`);
    busy[slot] = 1;
    const deadline = startDeadline(clock, options.timeoutMs, options.lateness);
    abortSwitch.tie(signal, slot, deadline);
    try {
      const attempt = await probe(target, options, deadline);
      if (deadline.over === 'aborted') throw signal.reason;
      return attempt.answered ? attempt : { ...attempt, lostMs: deadline.lostMs };
    } finally {
      abortSwitch.untie(signal, slot);
      deadline.close();
      busy[slot] = 0;
    }
  };

  const probe = (target: CheckTarget, options: AttemptOptions, deadline: Deadline): Promise<Attempt> => {
    const { check, domain } = target;
    const startedAt = clock.now();
    const wanted =
      check.url ?? (check.kind === 'health' ? `https://${domain}/api/health` : `https://${domain}/`);
    const destination = destinationOf(wanted);
    if ('problem' in destination) {
      const cause = { code: 'service_address_invalid', problem: destination.problem } as const;
      const failure = failureOf('protocol', 'dns', cause);
      return Promise.resolve(attemptOf(startedAt, null, { failure, via: 'root', memory: target.memory }));
    }
    const asked: WebRequest = {
      destination,
      method: 'GET',
      headers: rootHeaders,
      body: null,
      wantsBody: never,
      maxBodyBytes: 0,
      redirects: MAX_REDIRECTS,
      guard: guardOf(target, destination.port),
      trust: () => trusts.trust(check.caFile),
      fresh: options.number > 0,
    };
    const run: Run = { target, options, deadline, startedAt, asked };
    return check.kind === 'health' && healthIsDue(target.memory, startedAt)
      ? probeHealth(run)
      : probeRoot(check.kind === 'health' ? atRoot(run) : run, target.memory);
  };

  const atRoot = (run: Run): Run => {
    const destination = destinationOf(`${run.asked.destination.origin}/`) as Destination;
    return { ...run, asked: { ...run.asked, destination } };
  };

  const probeRoot = async (run: Run, memory: ProbeMemory): Promise<Attempt> => {
    const { check, serviceId } = run.target;
    const head = run.options.number === 0 && (check.method ?? (memory.needsGet ? 'GET' : 'HEAD')) === 'HEAD';
    // The previous attempt was a HEAD without a response; this one is the re-check by GET.
    let unanswered = unansweredHeads.delete(serviceId) && !head;
    let response = await sendRequest(
      parts,
      head ? { ...run.asked, method: 'HEAD' } : run.asked,
      run.deadline,
    );
    const refused = head && response.fault === null && refusesHead(response);
    if (head && isUnanswered(response)) unanswered = true;
    if (refused || (head && unanswered && run.deadline.over === null)) {
      response = await sendRequest(parts, run.asked, run.deadline);
    }
    // HEAD without a response has used up the deadline; the re-check shows whether HEAD was the reason.
    const isHeadAlone = head && unanswered && run.deadline.over !== null;
    if (isHeadAlone) unansweredHeads.add(serviceId);
    const headUnproven = isHeadAlone && !memory.headSeen;
    const needsGet = memory.needsGet || refused || (unanswered && response.fault === null);
    const headSeen = memory.headSeen || (head && !unanswered && !refused && response.fault === null);
    const isNew = needsGet !== memory.needsGet || headSeen !== memory.headSeen;
    const failure = response.fault === null ? judgeRoot(response, check.accept) : null;
    return attemptOf(run.startedAt, response, {
      failure,
      via: 'root',
      headUnproven,
      memory: isNew ? { ...memory, needsGet, headSeen } : memory,
    });
  };

  const probeHealth = async (run: Run): Promise<Attempt> => {
    const { memory } = run.target;
    const request: WebRequest = {
      ...run.asked,
      headers: healthHeaders,
      wantsBody: isSuccess,
      maxBodyBytes: MAX_HEALTH_BYTES,
    };
    const response = await sendRequest(parts, request, run.deadline);
    if (response.fault !== null)
      return attemptOf(run.startedAt, response, { failure: null, via: 'health', memory });
    const verdict = judgeHealth(response, readBody(response), memory.healthSeen);
    if (verdict.kind === 'missing') {
      return probeRoot(atRoot(run), { ...memory, askHealthAt: clock.now() + HEALTH_RETRY_MS });
    }
    const seen = verdict.kind === 'health' && (!memory.healthSeen || memory.askHealthAt !== null);
    return attemptOf(run.startedAt, response, {
      failure: verdict.kind === 'blocked' ? null : verdict.failure,
      reported: verdict.kind === 'health' ? verdict.reported : null,
      reportedWord: verdict.kind === 'health' ? verdict.word : null,
      via: 'health',
      memory: seen ? { ...memory, healthSeen: true, askHealthAt: null } : memory,
    });
  };

  /** Creates the attempt from its final response (null: no request was sent) and the judgement of it. */
  const attemptOf = (startedAt: number, response: WebResponse | null, judgement: Judgement): Attempt => {
    const { failure, reported = null, reportedWord = null, headUnproven = false, via, memory } = judgement;
    const fault = response?.fault ?? null;
    const totalMs = response?.timing.totalMs ?? null;
    const blocked = response !== null && fault === null && isBlocked(response);
    return {
      startedAt,
      answered: response !== null && response.statusCode !== 0,
      statusCode: response?.statusCode ?? 0,
      responseTimeMs: totalMs === null ? null : Math.round(totalMs),
      timing: response?.timing ?? NO_TIMING,
      failure: fault?.failure ?? failure,
      reported,
      reportedWord,
      blocked,
      via,
      certificateExpiresAt: response?.certificateExpiresAt ?? null,
      retryAfterMs:
        blocked && response.statusCode === 429
          ? readRetryAfter(response.headers['retry-after'], clock.now())
          : null,
      suspect: fault?.suspect ?? null,
      lostMs: response?.lostMs ?? 0,
      headUnproven,
      memory,
    };
  };

  return {
    runAttempt,
    /** Closes the resolver. Running attempts are not awaited. */
    async close(): Promise<void> {
      parts.resolver.close();
    },
  };
}

/** The shared state of the steps of one attempt. */
interface Run {
  readonly target: CheckTarget;
  readonly options: AttemptOptions;
  readonly deadline: Deadline;
  readonly startedAt: number;
  readonly asked: WebRequest;
}

interface Judgement {
  readonly failure: Failure | null;
  readonly reported?: Attempt['reported'];
  readonly reportedWord?: Attempt['reportedWord'];
  readonly headUnproven?: boolean;
  readonly via: Attempt['via'];
  readonly memory: ProbeMemory;
}

const never = () => false;
const isSuccess = (statusCode: number) => statusCode >= 200 && statusCode < 300;

/** Whether to request `/api/health`; false until it is retried after it was missing. */
function healthIsDue(memory: ProbeMemory, now: number): boolean {
  return memory.healthSeen || memory.askHealthAt === null || now >= memory.askHealthAt;
}

function readBody(response: WebResponse): HealthBody | null {
  const { body } = response;
  if (body === null) return null;
  if (response.overlong) return { kind: 'overlong', beginning: body.toString('utf8', 0, 512) };
  const decoded = decodeBody(body, response.headers, MAX_HEALTH_BYTES);
  if (decoded.kind === 'overlong') return { kind: 'overlong', beginning: '' };
  return decoded.kind === 'body'
    ? { kind: 'text', text: decoded.body.toString('utf8') }
    : { kind: 'unreadable' };
}

/**
 * Creates the guards of services, by the port of the first request (operating, `checks.allowPrivate` and
 * `checks.ports`). Services of the catalogue may use the private blocks, and another port in `check.url`. Services of
 * owners may use neither, but `ownersMayProbePrivate` allows the blocks. Throws if a block is invalid.
 */
export function createTargetGuards({
  allowPrivate,
  ports,
  ownersMayProbePrivate,
}: Pick<ProberSettings, 'allowPrivate' | 'ports' | 'ownersMayProbePrivate'>) {
  const owners = createAddressGuard({ allowPrivate: ownersMayProbePrivate ? allowPrivate : [], ports });
  const catalogue = createAddressGuard({ allowPrivate, ports });
  const byPort = new Map<number, AddressGuard>();
  return ({ origin, check }: Pick<CheckTarget, 'origin' | 'check'>, port: number): AddressGuard => {
    if (origin === 'owner') return owners;
    if (check.url === null || ports.includes(port)) return catalogue;
    let guard = byPort.get(port);
    if (guard === undefined) {
      guard = createAddressGuard({ allowPrivate, ports: [...ports, port] });
      byPort.set(port, guard);
    }
    return guard;
  };
}
