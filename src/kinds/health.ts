/**
 * Kind `health`: requests `/api/health` and reads the status word in the body. Where there is no health endpoint, the root
 * check decides (decisions, Health check).
 */
import { HOUR_MS } from '../domain/durations.ts';
import { hostInUrl } from '../domain/host-name.ts';
import type { ProbeMemory } from '../domain/result.ts';
import { Type } from '../json-schema.ts';
import { readBody } from '../outbound/read-body.ts';
import { sendRequest, type WebRequest } from '../outbound/send-request.ts';
import { type CheckKind, invalidAddress, RedirectSetting, redirectsOf, webAttemptOf } from './check-kind.ts';
import { judgeHealth, MAX_HEALTH_BYTES } from './response-rules.ts';
import { prepareRoot } from './root.ts';

/** Time until `/api/health` is requested again after it was missing, milliseconds. */
const HEALTH_RETRY_MS = HOUR_MS;

export const healthCheck: CheckKind = {
  settings: Type.Object(RedirectSetting),
  prepare(tools) {
    const { parts, clock, userAgent, trust, guardOf, destinationOf } = tools;
    const probeRoot = prepareRoot(tools);
    const headers = [
      'user-agent',
      userAgent,
      'accept',
      'application/json, */*;q=0.5',
      'accept-encoding',
      'identity',
    ];

    return async (run) => {
      const { target, options, deadline, startedAt } = run;
      const { check, domain, memory } = target;
      const destination = destinationOf(check.url ?? `https://${hostInUrl(domain)}/api/health`);
      if ('problem' in destination) return invalidAddress(run, 'root', destination);
      const root = `${destination.origin}/`;
      if (!isDue(memory, startedAt)) return await probeRoot(run, root);
      const request: WebRequest = {
        destination,
        method: 'GET',
        headers,
        body: null,
        wantsBody: isSuccess,
        maxBodyBytes: MAX_HEALTH_BYTES,
        redirects: redirectsOf(check.settings),
        guard: guardOf(target, destination.port),
        trust: () => trust(check.caFile),
        fresh: options.number > 0,
      };
      const response = await sendRequest(parts, request, deadline);
      if (response.fault !== null)
        return webAttemptOf(startedAt, response, { failure: null, via: 'health', memory }, clock.now);
      const verdict = judgeHealth(response, await readBody(response, MAX_HEALTH_BYTES), memory.healthSeen);
      if (verdict.kind === 'missing')
        return await probeRoot(run, root, { ...memory, askHealthAt: clock.now() + HEALTH_RETRY_MS });
      const seen = verdict.kind === 'health' && (!memory.healthSeen || memory.askHealthAt !== null);
      const judgement = {
        failure: verdict.kind === 'blocked' ? null : verdict.failure,
        reported: verdict.kind === 'health' ? verdict.reported : null,
        reportedWord: verdict.kind === 'health' ? verdict.word : null,
        via: 'health',
        memory: seen ? { ...memory, healthSeen: true, askHealthAt: null } : memory,
      } as const;
      return webAttemptOf(startedAt, response, judgement, clock.now);
    };
  },
};

const isSuccess = (statusCode: number) => statusCode >= 200 && statusCode < 300;

/** Returns true if `/api/health` is due; false until it is retried after it was missing. */
function isDue(memory: ProbeMemory, now: number): boolean {
  return memory.healthSeen || memory.askHealthAt === null || now >= memory.askHealthAt;
}
