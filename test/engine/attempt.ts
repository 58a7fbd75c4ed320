/** Failed attempts and targets for the tests of the engine. */
import type { CheckTarget } from '../../src/domain/check-target.ts';
import { type Attempt, NO_MEMORY } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';
import { goodAttempt } from '../support/attempts.ts';

/** An attempt that met a refused connection. */
export function refusedAttempt(changes: Partial<Attempt> = {}): Attempt {
  return goodAttempt({
    statusCode: 0,
    responseTimeMs: null,
    failure: { class: 'refused', phase: 'connect', cause: { code: 'text', text: 'refused' } },
    ...changes,
  });
}

/** An attempt that nothing answered in time. */
export function timedOutAttempt(changes: Partial<Attempt> = {}): Attempt {
  const failure = {
    class: 'timeout',
    phase: 'first_byte',
    cause: { code: 'timeout', phase: 'first_byte', timeoutMs: 10_000 },
  } as const;
  return refusedAttempt({ failure, ...changes });
}

/** A target whose domain tells a scripted prober what to do. */
export function targetOf(serviceId: number, changes: Partial<CheckTarget> = {}): CheckTarget {
  return {
    serviceId,
    revision: 1,
    domain: 'good',
    origin: 'catalogue',
    accountId: null,
    check: DEFAULT_CHECK,
    memory: NO_MEMORY,
    lastCheckedAt: null,
    ...changes,
  };
}
