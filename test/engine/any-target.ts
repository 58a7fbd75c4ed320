/** Arbitrary targets for properties. */
import fc from 'fast-check';
import type { CheckTarget } from '../../src/domain/check-target.ts';
import type { ProbeMemory } from '../../src/domain/result.ts';
import { DEFAULT_CHECK } from '../../src/domain/service.ts';

/** A time, epoch milliseconds, or null. */
export const anyTime: fc.Arbitrary<number | null> = fc.option(fc.nat(2 ** 42));

/** What checks may have learned. */
export const anyMemory: fc.Arbitrary<ProbeMemory> = fc.record(
  { needsGet: fc.boolean(), headSeen: fc.boolean(), healthSeen: fc.boolean(), askHealthAt: anyTime },
  { noNullPrototype: true },
);

/** A target of a service with one of these ids. */
export function anyTarget(serviceId: fc.Arbitrary<number>): fc.Arbitrary<CheckTarget> {
  return fc.record(
    {
      serviceId,
      revision: fc.integer({ min: 1, max: 2 ** 50 }),
      domain: fc.constantFrom('a.example', ''),
      origin: fc.constantFrom('owner', 'catalogue'),
      accountId: fc.option(fc.integer({ min: 1, max: 2 ** 32 - 1 })),
      check: fc.constantFrom(DEFAULT_CHECK, { ...DEFAULT_CHECK, timeoutMs: 7 }),
      memory: anyMemory,
      lastCheckedAt: anyTime,
    },
    { noNullPrototype: true },
  );
}
