/**
 * Targets on their way to a host. Packed, 500 of them are one transferred array of numbers, their domains, and the few checks
 * that differ, so that an object is cloned for none of them.
 */
import type { CheckTarget } from '../domain/check-target.ts';
import { MEMORY_BITS, memoryFlags, unpackMemory, unpackNullable } from '../domain/packed.ts';
import type { CheckDefinition } from '../domain/service.ts';

export interface PackedTargets {
  /** {@link STRIDE} numbers for each target; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly domains: readonly string[];
  /** The checks that the numbers refer to by place. Those that are one object stay one. */
  readonly checks: readonly CheckDefinition[];
}

const STRIDE = 7;
const OWNED = 1;

export function packTargets(targets: readonly CheckTarget[]): PackedTargets {
  const numbers = new Float64Array(targets.length * STRIDE);
  const places = new Map<CheckDefinition, number>();
  let at = 0;
  for (const { serviceId, revision, origin, accountId, check, memory, lastCheckedAt } of targets) {
    const place = places.get(check) ?? places.size;
    if (place === places.size) places.set(check, place);
    numbers[at++] = serviceId;
    numbers[at++] = revision;
    numbers[at++] = place;
    numbers[at++] = lastCheckedAt ?? Number.NaN;
    numbers[at++] = memory.askHealthAt ?? Number.NaN;
    numbers[at++] = accountId ?? Number.NaN;
    numbers[at++] = (origin === 'owner' ? OWNED : 0) | memoryFlags(memory, MEMORY_BITS);
  }
  return { numbers, domains: targets.map(({ domain }) => domain), checks: [...places.keys()] };
}

/** The packed targets in order, each made when it is its turn. */
export function* unpackTargets({ numbers, domains, checks }: PackedTargets): Generator<CheckTarget, void> {
  for (const [index, domain] of domains.entries()) {
    const at = index * STRIDE;
    const flags = numbers[at + 6] as number;
    yield {
      serviceId: numbers[at] as number,
      revision: numbers[at + 1] as number,
      domain,
      origin: (flags & OWNED) === 0 ? 'catalogue' : 'owner',
      accountId: unpackNullable(numbers[at + 5]),
      check: checks[numbers[at + 2] as number] as CheckDefinition,
      memory: unpackMemory(flags, numbers[at + 4], MEMORY_BITS),
      lastCheckedAt: unpackNullable(numbers[at + 3]),
    };
  }
}
