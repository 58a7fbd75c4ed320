/** Proofs of control over domains, and claims of domains that wait for one (decisions, Ownership). */
import type { DomainProofs } from '../../auth/domain-proof.ts';
import type { Service } from '../../domain/service.ts';
import type { OwnershipStore } from '../../store/ports/ownership.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';
import { type CheckedPlace, claimPlace } from './services.ts';

/** The dependencies of changes of claims. */
export interface DomainContext {
  readonly registry: OwnershipStore;
  readonly proofs: Pick<DomainProofs, 'check'>;
  /** The addresses to which a domain resolves now. */
  readonly resolve: (domain: string) => Promise<readonly string[]>;
  readonly now: () => number;
}

/** Removes a claim; does nothing if it does not exist. Refused with `role_required`. */
export async function dropClaim(
  { registry }: DomainContext,
  principal: AccountPrincipal,
  domain: string,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  await registry.dropClaim(principal.accountId, domain);
  return accept(undefined);
}

/**
 * Assigns a domain to the account if it has proved control of the domain. Refused with `role_required`,
 * `proof_missing`, `shared_address`, `too_many_domains` or `too_many_registrations`.
 */
export async function verifyDomain(
  context: Omit<DomainContext, 'registry'> & {
    readonly registry: Pick<OwnershipStore, 'proveDomain' | 'claimAddresses'>;
  },
  principal: AccountPrincipal,
  domain: string,
  check: CheckedPlace,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const { registry, proofs, now } = context;
  const missing = await proofs.check(accountId, domain);
  if (missing !== null) return refuse(missing, 'domain');
  const place = await claimPlace(context, domain, check);
  if (!place.ok) return place;
  const proven = await attempt(() => registry.proveDomain(accountId, domain, check.kind, now()), 'domain');
  if (!proven.ok) return proven;
  // The addresses are stored again, since there was no service to store them for before.
  const placed = await claimPlace(context, domain, check);
  return placed.ok ? proven : placed;
}
