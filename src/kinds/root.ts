/** Kind `root`: requests the root of the domain, by HEAD where the server supports it (decisions, Root check). */
import { BoundedMap } from '../async/bounded-map.ts';
import { HOUR_MS } from '../domain/durations.ts';
import { hostInUrl } from '../domain/host-name.ts';
import type { Attempt, ProbeMemory } from '../domain/result.ts';
import type { AcceptRule } from '../domain/service.ts';
import { Type } from '../json-schema.ts';
import { sendRequest, type WebRequest, type WebResponse } from '../outbound/send-request.ts';
import {
  type CheckKind,
  invalidAddress,
  type ProbeTools,
  RedirectSetting,
  type Run,
  redirectsOf,
  webAttemptOf,
} from './check-kind.ts';
import { isBlocked, isUnanswered, judgeRoot, refusesHead } from './response-rules.ts';

/** Time between trials of HEAD for a service that is requested by GET, milliseconds. */
const HEAD_TRIAL_MS = HOUR_MS;

/** The number of times in a row that GET must do better than HEAD, where HEAD has done as well before. */
const MIN_DOUBTS = 2;

/** Maximum number of services of a thread with doubts, and with trials. */
const MAX_SERVICES = 100_000;

type Answer = Pick<WebResponse, 'statusCode' | 'headers' | 'fault'>;

/** Learns by comparison of the responses whether a service has to be requested by GET (decisions, Root check). */
interface HeadSupport {
  /** Returns the memory after a response to HEAD decided alone. */
  answered(serviceId: number, memory: ProbeMemory): ProbeMemory;
  /** Returns the memory after GET did better than HEAD. */
  outdone(serviceId: number, memory: ProbeMemory): ProbeMemory;
  /** Returns true if HEAD is due to be tried again for a service that is requested by GET. `now`: monotonic milliseconds. */
  isTrialDue(serviceId: number, now: number): boolean;
}

export const rootCheck: CheckKind = {
  settings: Type.Object(RedirectSetting),
  prepare(tools) {
    const probe = prepareRoot(tools);
    return (run) => probe(run, run.target.check.url ?? `https://${hostInUrl(run.target.domain)}/`);
  },
};

/** Creates the function that makes root checks. `memory` is the probe memory before the attempt; by default that of the target. */
export function prepareRoot({ parts, clock, userAgent, trust, guardOf, destinationOf }: ProbeTools) {
  const headers = ['user-agent', userAgent, 'accept', '*/*'];
  const support = createHeadSupport();
  // Services whose HEAD got no response in the previous attempt. At most one entry for each service of the thread.
  const unansweredHeads = new Set<number>();

  return async (run: Run, url: string, memory: ProbeMemory = run.target.memory): Promise<Attempt> => {
    const { target, options, deadline, startedAt } = run;
    const { check, serviceId } = target;
    const destination = destinationOf(url);
    if ('problem' in destination) return invalidAddress(run, 'root', destination);
    const head = options.number === 0 && (check.method ?? (memory.needsGet ? 'GET' : 'HEAD')) === 'HEAD';
    const request: Omit<WebRequest, 'method'> = {
      destination,
      headers,
      body: null,
      wantsBody: never,
      maxBodyBytes: 0,
      redirects: redirectsOf(check.settings),
      guard: guardOf(target, destination.port),
      trust: () => trust(check.caFile),
      fresh: options.number > 0,
    };
    const ask = (method: 'HEAD' | 'GET') => sendRequest(parts, { ...request, method }, deadline);
    const wasUnanswered = unansweredHeads.delete(serviceId);
    let response = await ask(head ? 'HEAD' : 'GET');
    let learned = memory;
    let headUnproven = false;
    if (head) {
      const first = response;
      const unanswered = isUnanswered(first);
      const isRepeated = unanswered || (first.fault === null && refusesHead(first));
      if (isRepeated && deadline.over === null) {
        response = await ask('GET');
        if (isBetter(response, first, check.accept)) learned = support.outdone(serviceId, memory);
        else if (!unanswered) learned = support.answered(serviceId, memory);
      } else if (unanswered) {
        // HEAD without a response has used up the deadline; the re-check shows whether HEAD was the reason.
        unansweredHeads.add(serviceId);
        headUnproven = !memory.headSeen;
      } else if (first.fault === null) learned = support.answered(serviceId, memory);
    } else if (response.fault === null && wasUnanswered) learned = support.outdone(serviceId, memory);
    else if (response.fault === null && options.number === 0 && check.method === null && memory.needsGet) {
      const trial = support.isTrialDue(serviceId, clock.monotonic()) ? await ask('HEAD') : null;
      if (trial !== null && !isBetter(response, trial, check.accept))
        learned = support.answered(serviceId, memory);
    }
    const failure = response.fault === null ? judgeRoot(response, check.accept) : null;
    const judgement = { failure, via: 'root', headUnproven, memory: learned } as const;
    return webAttemptOf(startedAt, response, judgement, clock.now);
  };
}

const never = () => false;

/**
 * Creates the memory of a thread. What is known for certain is in the probe memory; doubts and the times of new trials are kept
 * by the thread.
 */
function createHeadSupport(): HeadSupport {
  const doubts = new BoundedMap<number, number>(MAX_SERVICES);
  const trials = new BoundedMap<number, number>(MAX_SERVICES);
  return {
    answered(serviceId, memory) {
      doubts.delete(serviceId);
      trials.delete(serviceId);
      return memory.headSeen && !memory.needsGet ? memory : { ...memory, headSeen: true, needsGet: false };
    },
    outdone(serviceId, memory) {
      const count = (doubts.get(serviceId) ?? 0) + 1;
      const certain = !memory.headSeen || count >= MIN_DOUBTS;
      if (certain) doubts.delete(serviceId);
      else doubts.set(serviceId, count);
      return certain && !memory.needsGet ? { ...memory, needsGet: true } : memory;
    },
    isTrialDue(serviceId, now) {
      const dueAt = trials.get(serviceId);
      if (dueAt !== undefined && now < dueAt) return false;
      trials.set(serviceId, now + HEAD_TRIAL_MS);
      return dueAt !== undefined;
    },
  };
}

/** Returns true if one response is better than the other. The order: good, blocked or another 4xx, an error, no response. */
function isBetter(one: Answer, other: Answer, accept: readonly AcceptRule[] | null): boolean {
  return rankOf(one, accept) < rankOf(other, accept);
}

function rankOf(answer: Answer, accept: readonly AcceptRule[] | null): number {
  if (answer.fault !== null) return 3;
  if (judgeRoot(answer, accept) !== null) return 2;
  return isBlocked(answer) || answer.statusCode >= 400 ? 1 : 0;
}
