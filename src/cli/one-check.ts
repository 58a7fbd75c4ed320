/** One check outside of the engine, by the engine's own prober and rules. */

import { systemClock } from '../clock.ts';
import type { Config } from '../config/resolve-config.ts';
import type { CheckTarget } from '../domain/check-target.ts';
import { describeCause } from '../domain/failure-text.ts';
import { judgeAttempt } from '../domain/judge.ts';
import { type Attempt, NO_MEMORY } from '../domain/result.ts';
import { type CheckDefinition, DEFAULT_CHECK, type ServiceOrigin } from '../domain/service.ts';
import type { Verdict } from '../domain/status.ts';
import { createProber, type Prober } from '../probe/prober.ts';
import { VERSION } from '../version.ts';
import { printNote } from './output.ts';

/** Opens the prober as the engine would, with so many slots. */
export function openProber({ checks, http }: Config, concurrency: number): Prober {
  const settings = {
    version: VERSION,
    siteUrl: http.siteUrl,
    allowPrivate: checks.allowPrivate,
    ports: checks.ports,
    nameservers: checks.nameservers,
    ownersMayProbePrivate: checks.ownersMayProbePrivate,
    concurrency,
  };
  return createProber(settings, systemClock, ({ host, refusal }) =>
    printNote(`${host}: ${describeCause({ cause: refusal })}`),
  );
}

/** What is checked. */
export interface OneCheck {
  readonly domain: string;
  readonly origin: ServiceOrigin;
  readonly check: Partial<CheckDefinition>;
}

/** Makes one attempt. Re-checks are left out, but for the one by GET where HEAD was met with silence. */
export async function checkOnce(
  prober: Prober,
  config: Config,
  { domain, origin, check }: OneCheck,
  slot: number,
): Promise<{ readonly attempt: Attempt; readonly verdict: Verdict }> {
  const target: CheckTarget = {
    serviceId: slot + 1,
    revision: 1,
    domain,
    origin,
    check: { ...DEFAULT_CHECK, ...check },
    memory: NO_MEMORY,
    lastCheckedAt: null,
  };
  const { timeoutMs, slowOverMs } = config.checks;
  const signal = new AbortController().signal;
  const first = await prober.runAttempt(target, { timeoutMs, number: 0, slot, signal });
  const isSilent = first.statusCode === 0 && first.failure?.phase === 'first_byte';
  const attempt = isSilent ? await prober.runAttempt(target, { timeoutMs, number: 1, slot, signal }) : first;
  return { attempt, verdict: judgeAttempt(attempt, slowOverMs) };
}
