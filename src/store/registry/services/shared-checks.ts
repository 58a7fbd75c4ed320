/** Checks of services from their JSON. */
import { BoundedMap, getOrInsert } from '../../../async/bounded-map.ts';
import type { CheckDefinition } from '../../../domain/service.ts';

/** Maximum number of different checks that are shared; the oldest are dropped beyond it. */
const MAX_SHARED_CHECKS = 1_000;
const sharedChecks = new BoundedMap<string, CheckDefinition>(MAX_SHARED_CHECKS);

/** The check in a JSON text. Services with the same check share an object, because there may be a million of them. */
export function toCheck(stored: string): CheckDefinition {
  return getOrInsert(sharedChecks, stored, () => JSON.parse(stored));
}

/** The same check as an object that services share. */
export function shareCheck(check: CheckDefinition): CheckDefinition {
  return getOrInsert(sharedChecks, JSON.stringify(check), () => check);
}
