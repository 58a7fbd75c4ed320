/** Converts services into the targets of the engine. */
import type { CheckTarget } from '../domain/check-target.ts';
import type { ProbeMemory } from '../domain/result.ts';
import type { Service } from '../domain/service.ts';
import type { ServiceState } from '../store/ports/services.ts';

/** The target of a service. Null if it is paused, sends heartbeats or is not verified yet. */
export function targetOf(
  service: Service,
  memory: ProbeMemory,
  lastCheckedAt: number | null,
): CheckTarget | null {
  const { id: serviceId, revision, domain, origin, check, paused, verified } = service;
  // An owner's domain is not checked before it is verified (decisions, Ownership).
  if (paused || check.kind === 'heartbeat' || !verified) return null;
  return { serviceId, revision, domain, origin, check, memory, lastCheckedAt };
}

/** The targets at start. */
export function startTargets(states: readonly ServiceState[]): CheckTarget[] {
  return states.flatMap(({ service, memory, current }) => {
    const target = targetOf(service, memory, current.latest?.checkedAt ?? null);
    return target === null ? [] : [target];
  });
}
