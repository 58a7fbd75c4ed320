/** Kind `root`: requests the root of the domain, by HEAD where the server supports it (decisions, Root check). */
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
import { isUnanswered, judgeRoot, refusesHead } from './response-rules.ts';

/** The root check. */
export const rootCheck: CheckKind = {
  settings: Type.Object(RedirectSetting),
  prepare(tools) {
    const probe = prepareRoot(tools);
    return (run) => probe(run, run.target.check.url ?? `https://${run.target.domain}/`);
  },
};

/**
 * Creates the function that makes root checks. `memory` is the probe memory before the attempt; by default that of the
 * target.
 */
export function prepareRoot({ parts, clock, userAgent, trust, guardOf, destinationOf }: ProbeTools) {
  const headers = ['user-agent', userAgent, 'accept', '*/*'];
  // Services whose HEAD got no response in the previous attempt. At most one entry for each service of the thread.
  const unansweredHeads = new Set<number>();

  return async (run: Run, url: string, memory: ProbeMemory = run.target.memory): Promise<Attempt> => {
    const { target, options, deadline, startedAt } = run;
    const { check, serviceId } = target;
    const destination = destinationOf(url);
    if ('problem' in destination) return invalidAddress(run, 'root', destination);
    const head = options.number === 0 && (check.method ?? (memory.needsGet ? 'GET' : 'HEAD')) === 'HEAD';
    const asked: WebRequest = {
      destination,
      method: head ? 'HEAD' : 'GET',
      headers,
      body: null,
      wantsBody: never,
      maxBodyBytes: 0,
      redirects: redirectsOf(check.settings),
      guard: guardOf(target, destination.port),
      trust: () => trust(check.caFile),
      fresh: options.number > 0,
    };
    // The previous attempt was a HEAD without a response; this one is the re-check by GET.
    let unanswered = unansweredHeads.delete(serviceId) && !head;
    let response = await sendRequest(parts, asked, deadline);
    const refused = head && response.fault === null && refusesHead(response);
    if (head && isUnanswered(response)) unanswered = true;
    if (refused || (head && unanswered && deadline.over === null)) {
      response = await sendRequest(parts, { ...asked, method: 'GET' }, deadline);
    }
    // HEAD without a response has used up the deadline; the re-check shows whether HEAD was the reason.
    const isHeadAlone = head && unanswered && deadline.over !== null;
    if (isHeadAlone) unansweredHeads.add(serviceId);
    const headUnproven = isHeadAlone && !memory.headSeen;
    const needsGet = memory.needsGet || refused || (unanswered && response.fault === null);
    const headSeen = memory.headSeen || (head && !unanswered && !refused && response.fault === null);
    const isNew = needsGet !== memory.needsGet || headSeen !== memory.headSeen;
    const failure = response.fault === null ? judgeRoot(response, check.accept) : null;
    const judgement = {
      failure,
      via: 'root',
      headUnproven,
      memory: isNew ? { ...memory, needsGet, headSeen } : memory,
    } as const;
    return webAttemptOf(startedAt, response, judgement, clock.now);
  };
}

const never = () => false;
