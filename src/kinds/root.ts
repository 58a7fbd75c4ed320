/** Kind `root`: requests the root of the domain, by HEAD where the server supports it (decisions, Root check). */
import { hostInUrl } from '../domain/host-name.ts';
import type { Attempt, ProbeMemory } from '../domain/result.ts';
import { Type } from '../json-schema.ts';
import { sendRequest, type WebRequest } from '../outbound/send-request.ts';
import {
  type CheckKind,
  invalidAddress,
  type ProbeTools,
  RedirectSetting,
  type Run,
  redirectsOf,
  webAttemptOf,
} from './check-kind.ts';
import { createHeadSupport, isBetter } from './head-support.ts';
import { isUnanswered, judgeRoot, refusesHead } from './response-rules.ts';

/** The root check. */
export const rootCheck: CheckKind = {
  settings: Type.Object(RedirectSetting),
  prepare(tools) {
    const probe = prepareRoot(tools);
    return (run) => probe(run, run.target.check.url ?? `https://${hostInUrl(run.target.domain)}/`);
  },
};

/**
 * Creates the function that makes root checks. `memory` is the probe memory before the attempt; by default that of the
 * target.
 */
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
