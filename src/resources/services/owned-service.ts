/** The service of an account that a change concerns, in the state that the person has seen. */
import type { Service } from '../../domain/service.ts';
import type { ServiceStore } from '../../store/ports/services.ts';
import {
  accept,
  MAX_TRIES,
  mayChange,
  type Outcome,
  type Principal,
  refuse,
  refuseRole,
} from '../kit/change.ts';

/** The dependencies of finding a service. */
export interface OwnedContext {
  /** The live service of an owner or the catalogue with that slug; null: there is none. */
  readonly findService: (slug: string) => Service | null;
  readonly registry: Pick<ServiceStore, 'findService'>;
}

/**
 * The service that the principal may change, in its newest state. Services of other accounts count as missing. `isFresh`: read
 * from the registry, since the list of this process may be behind another one for a moment. Refused with `role_required` or
 * `no_owned_service`.
 */
export async function findOwnedService(
  { registry, findService }: OwnedContext,
  principal: Principal,
  slug: string,
  isFresh: boolean,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const known = findService(slug.toLowerCase());
  const service =
    known === null || isFresh ? await registry.findService(known?.slug ?? slug.toLowerCase()) : known;
  return service !== null && mayChange(principal, service.accountId)
    ? accept(service)
    : refuse({ code: 'no_owned_service', slug });
}

/**
 * Makes a change that is refused as `service_stale` if another writer was faster. It is computed again from the new state,
 * unless the client has seen certain revisions only.
 */
export async function changeSeen<T>(
  context: OwnedContext,
  principal: Principal,
  slug: string,
  revisions: readonly number[] | null,
  change: (service: Service) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  for (let tried = 1; ; tried++) {
    const found = await findOwnedService(context, principal, slug, tried > 1);
    if (!found.ok) return found;
    const isSeen = revisions === null || revisions.includes(found.value.revision);
    const outcome = isSeen
      ? await change(found.value)
      : refuse({ code: 'service_stale', slug: found.value.slug });
    const isStale = !outcome.ok && outcome.refusals.some(({ refusal }) => refusal.code === 'service_stale');
    const isFinal = tried === MAX_TRIES || (!isSeen && tried > 1);
    if (!isStale || isFinal) return outcome;
  }
}
