/**
 * One attempt of a check: what is asked of a service, in which order, and what the answer means.
 * The rules are those of decisions, "What a check is".
 */

import { type Clock, systemClock } from '../clock.ts';
import type { AttemptOptions, CheckTarget, RunAttempt } from '../domain/check-target.ts';
import { type Failure, failureOf } from '../domain/failure.ts';
import type { Attempt, ProbeMemory } from '../domain/result.ts';
import { NO_TIMING } from '../domain/result.ts';
import { ask, type Question, type Reply } from '../outbound/ask.ts';
import { type Budget, openBudget } from '../outbound/budget.ts';
import { decodeBody } from '../outbound/decode-body.ts';
import { createDestinationCache, type Destination } from '../outbound/destination.ts';
import type { DialParts } from '../outbound/dial.ts';
import { createResolver } from '../outbound/resolver.ts';
import { readRetryAfter } from '../outbound/retry-after.ts';
import { createTrustStore } from '../outbound/trust.ts';
import { userAgentOf } from '../outbound/user-agent.ts';
import { createAbortSwitch } from './abort-switch.ts';
import { isBlocked, isUnanswered, judgeRoot, refusesHead } from './answer-rules.ts';
import { type HealthBody, judgeHealth, MAX_HEALTH_BYTES } from './health-rule.ts';
import { createTargetGuards } from './target-guard.ts';

/** Settings of a prober: plain data that can be sent to a thread. */
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
export interface Prober {
  readonly runAttempt: RunAttempt;
  /** Closes what is open; attempts still running are not waited for. */
  close(): Promise<void>;
}

/** Redirects that are followed (decisions, "A redirect is followed, at most 5"). */
const MAX_REDIRECTS = 5;
/** `/api/health` is asked again this long after it was found missing. */
const ASK_HEALTH_AGAIN_MS = 3_600_000;
/** Addresses whose parts are remembered. */
const KNOWN_DESTINATIONS = 8192;

/**
 * Opens a prober; `onForbidden` hears of addresses that were not dialled. Throws where a CIDR block or a name server of
 * the settings cannot be read.
 */
export function createProber(
  settings: ProberSettings,
  clock: Clock = systemClock,
  onForbidden?: DialParts['onForbidden'],
): Prober {
  const parts = { clock, resolver: createResolver({ ...settings, clock }), onForbidden };
  const trusts = createTrustStore();
  const guardOf = createTargetGuards(settings);
  const destinationOf = createDestinationCache(KNOWN_DESTINATIONS);
  const abortSwitch = createAbortSwitch(settings.concurrency);
  const busy = new Uint8Array(settings.concurrency);
  // Services whose HEAD was met with silence in the attempt before. At most one entry for each service of the thread.
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

  const runAttempt = async (target: CheckTarget, options: AttemptOptions): Promise<Attempt> => {
    const { slot, signal } = options;
    signal.throwIfAborted();
    if (busy[slot] !== 0) throw new RangeError(`slot ${slot} is taken or does not exist`);
    busy[slot] = 1;
    const budget = openBudget(clock, options.timeoutMs, options.lateness);
    abortSwitch.tie(signal, slot, budget);
    try {
      const attempt = await probe(target, options, budget);
      if (budget.over === 'aborted') throw signal.reason;
      return attempt.statusCode === 0 ? { ...attempt, lostMs: budget.lostMs } : attempt;
    } finally {
      abortSwitch.untie(signal, slot);
      budget.close();
      busy[slot] = 0;
    }
  };

  const probe = (target: CheckTarget, options: AttemptOptions, budget: Budget): Promise<Attempt> => {
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
    const asked: Question = {
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
    const run: Run = { target, options, budget, startedAt, asked };
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
    // The attempt before was a HEAD that nobody answered; this one is the re-check by GET.
    let unanswered = unansweredHeads.delete(serviceId) && !head;
    let reply = await ask(parts, head ? { ...run.asked, method: 'HEAD' } : run.asked, run.budget);
    const refused = head && reply.fault === null && refusesHead(reply);
    if (head && isUnanswered(reply)) unanswered = true;
    if (refused || (head && unanswered && run.budget.over === null)) {
      reply = await ask(parts, run.asked, run.budget);
    }
    // Silence has used up the budget: the re-check tells whether HEAD was the reason.
    const isHeadAlone = head && unanswered && run.budget.over !== null;
    if (isHeadAlone) unansweredHeads.add(serviceId);
    const headUnproven = isHeadAlone && !memory.headSeen;
    const needsGet = memory.needsGet || refused || (unanswered && reply.fault === null);
    const headSeen = memory.headSeen || (head && !unanswered && !refused && reply.fault === null);
    const isNew = needsGet !== memory.needsGet || headSeen !== memory.headSeen;
    const failure = reply.fault === null ? judgeRoot(reply, check.accept) : null;
    return attemptOf(run.startedAt, reply, {
      failure,
      via: 'root',
      headUnproven,
      memory: isNew ? { ...memory, needsGet, headSeen } : memory,
    });
  };

  const probeHealth = async (run: Run): Promise<Attempt> => {
    const { memory } = run.target;
    const question: Question = {
      ...run.asked,
      headers: healthHeaders,
      wantsBody: isSuccess,
      maxBodyBytes: MAX_HEALTH_BYTES,
    };
    const reply = await ask(parts, question, run.budget);
    if (reply.fault !== null)
      return attemptOf(run.startedAt, reply, { failure: null, via: 'health', memory });
    const verdict = judgeHealth(reply, readBody(reply), memory.healthSeen);
    if (verdict.kind === 'missing') {
      return probeRoot(atRoot(run), { ...memory, askHealthAt: clock.now() + ASK_HEALTH_AGAIN_MS });
    }
    const seen = verdict.kind === 'health' && (!memory.healthSeen || memory.askHealthAt !== null);
    return attemptOf(run.startedAt, reply, {
      failure: verdict.kind === 'blocked' ? null : verdict.failure,
      reported: verdict.kind === 'health' ? verdict.reported : null,
      reportedWord: verdict.kind === 'health' ? verdict.word : null,
      via: 'health',
      memory: seen ? { ...memory, healthSeen: true, askHealthAt: null } : memory,
    });
  };

  /** What an attempt found, from the reply that decides (null: nothing was asked) and the judgement over it. */
  const attemptOf = (startedAt: number, reply: Reply | null, judgement: Judgement): Attempt => {
    const { failure, reported = null, reportedWord = null, headUnproven = false, via, memory } = judgement;
    const fault = reply?.fault ?? null;
    const totalMs = reply?.timing.totalMs ?? null;
    const blocked = reply !== null && fault === null && isBlocked(reply);
    return {
      startedAt,
      statusCode: reply?.statusCode ?? 0,
      responseTimeMs: totalMs === null ? null : Math.round(totalMs),
      timing: reply?.timing ?? NO_TIMING,
      failure: fault?.failure ?? failure,
      reported,
      reportedWord,
      blocked,
      via,
      certificateExpiresAt: reply?.certificateExpiresAt ?? null,
      retryAfterMs:
        blocked && reply.statusCode === 429
          ? readRetryAfter(reply.headers['retry-after'], clock.now())
          : null,
      suspect: fault?.suspect ?? null,
      lostMs: reply?.lostMs ?? 0,
      headUnproven,
      memory,
    };
  };

  return {
    runAttempt,
    async close() {
      parts.resolver.close();
    },
  };
}

/** What the steps of one attempt share. */
interface Run {
  readonly target: CheckTarget;
  readonly options: AttemptOptions;
  readonly budget: Budget;
  readonly startedAt: number;
  readonly asked: Question;
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

/** Whether `/api/health` is to be asked, or is known to be missing for now. */
function healthIsDue(memory: ProbeMemory, now: number): boolean {
  return memory.healthSeen || memory.askHealthAt === null || now >= memory.askHealthAt;
}

function readBody(reply: Reply): HealthBody | null {
  const { body } = reply;
  if (body === null) return null;
  if (reply.overlong) return { kind: 'overlong', beginning: body.toString('utf8', 0, 512) };
  const decoded = decodeBody(body, reply.headers, MAX_HEALTH_BYTES);
  if (decoded.kind === 'overlong') return { kind: 'overlong', beginning: '' };
  return decoded.kind === 'body'
    ? { kind: 'text', text: decoded.body.toString('utf8') }
    : { kind: 'unreadable' };
}
