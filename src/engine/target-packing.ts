/**
 * Targets on their way to a host. Packed, 500 of them are one transferred array of numbers, their domains, and the few checks
 * that differ, so that an object is cloned for none of them.
 */
import type { CheckTarget } from '../domain/check-target.ts';
import { shareMemory } from '../domain/result.ts';
import type { CheckDefinition } from '../domain/service.ts';

/** Targets that cross threads. */
export interface PackedTargets {
  /** {@link STRIDE} numbers for each target; NaN stands for null. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly domains: readonly string[];
  /** The checks that the numbers refer to by place. Those that are one object stay one. */
  readonly checks: readonly CheckDefinition[];
}

const STRIDE = 7;
const OWNED = 1;
const NEEDS_GET = 2;
const HEAD_SEEN = 4;
const HEALTH_SEEN = 8;

/** Packs targets in order. */
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
    numbers[at++] =
      (origin === 'owner' ? OWNED : 0) |
      (memory.needsGet ? NEEDS_GET : 0) |
      (memory.headSeen ? HEAD_SEEN : 0) |
      (memory.healthSeen ? HEALTH_SEEN : 0);
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
      accountId: nullable(numbers[at + 5] as number),
      check: checks[numbers[at + 2] as number] as CheckDefinition,
      memory: shareMemory({
        needsGet: (flags & NEEDS_GET) !== 0,
        headSeen: (flags & HEAD_SEEN) !== 0,
        healthSeen: (flags & HEALTH_SEEN) !== 0,
        askHealthAt: nullable(numbers[at + 4] as number),
      }),
      lastCheckedAt: nullable(numbers[at + 3] as number),
    };
  }
}

function nullable(value: number): number | null {
  return Number.isNaN(value) ? null : value;
}
