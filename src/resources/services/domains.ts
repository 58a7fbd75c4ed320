/** Proofs of control over domains, claims of domains that wait for one, and where checks may lead (decisions, Ownership). */
import type { ProofCheck } from '../../auth/domain-proof.ts';
import type { CheckDefinition, Service } from '../../domain/service.ts';
import type { OwnershipStore, ServiceStore } from '../../store/ports/services.ts';
import { type AccountPrincipal, accept, attempt, type Outcome, refuse, refuseRole } from '../kit/change.ts';

/** The dependencies of permissions of checks. */
export interface PlaceContext {
  readonly registry: OwnershipStore & ServiceStore;
  readonly proofs: ProofCheck;
  /** The addresses to which a domain resolves now. */
  readonly resolve: (domain: string) => Promise<readonly string[]>;
  readonly now: () => number;
}

/** The members that decide which addresses a check requests. */
type CheckedPlace = Pick<CheckDefinition, 'kind' | 'url'>;

/** A service whose check is permitted. */
export interface PlacedService {
  readonly domain: string;
  /** Null: of a domain that the account is about to get. */
  readonly slug: string | null;
  readonly check: CheckedPlace;
}

/** Removes a claim; does nothing if it does not exist. Refused with `role_required`. */
export async function dropClaim(
  { registry }: { readonly registry: OwnershipStore },
  principal: AccountPrincipal,
  domain: string,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  await registry.dropClaim(principal.accountId, domain);
  return accept(undefined);
}

/**
 * Assigns a domain to the account if it has proved control of the domain: all of its services there are verified. Refused with
 * `role_required`, `proof_missing`, `shared_address`, `too_many_domains` or `too_many_registrations`.
 */
export async function verifyDomain(
  context: PlaceContext & { readonly registry: OwnershipStore },
  principal: AccountPrincipal,
  domain: string,
  check: CheckedPlace,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  return await takeProven(context, accountId, { domain, check }, () =>
    context.registry.proveDomain(accountId, domain, check.kind, context.now()),
  );
}

/** Takes a domain of which the account has proved control. Refused with `proof_missing` and `shared_address`, and as `take`. */
export async function takeProven(
  context: PlaceContext,
  accountId: number,
  { domain, check }: Omit<PlacedService, 'slug'>,
  take: () => Promise<Service>,
): Promise<Outcome<Service>> {
  const missing = await context.proofs.check(accountId, domain);
  if (missing !== null) return refuse(missing, 'domain');
  const place = await claimPlace(context, { domain, slug: null, check });
  if (!place.ok) return place;
  const taken = await attempt(take, 'domain');
  if (!taken.ok) return taken;
  // The addresses are stored again, since there was no service to store them for before; others of the domain were not verified.
  for (const service of await context.registry.servicesOf(accountId)) {
    if (service.domain !== domain) continue;
    const placed = await claimPlace(context, service);
    if (!placed.ok) return placed;
  }
  return taken;
}

/**
 * Permits checks of an owner's domain, and of the host of `check.url`. Refused with `shared_address` if too many services of owners
 * resolve to the same address (decisions, Ownership). Heartbeat services need no permission, because they are not requested.
 */
export async function claimPlace(
  {
    registry,
    resolve,
  }: Pick<PlaceContext, 'resolve'> & {
    readonly registry: OwnershipStore;
  },
  { domain, slug, check: { kind, url } }: PlacedService,
): Promise<Outcome<void>> {
  if (kind === 'heartbeat') return accept(undefined);
  const hosts = new Set([domain, url === null ? domain : (URL.parse(url)?.hostname ?? domain)]);
  return await attempt(async () => {
    const addresses = await Promise.all([...hosts].map((host) => resolve(host)));
    await registry.claimAddresses(domain, slug, [...new Set(addresses.flat())]);
  }, 'kind');
}

/** Returns true if a check may request other addresses than the one before it. */
export function hasMoved(before: CheckedPlace, after: CheckedPlace): boolean {
  return before.kind !== after.kind || before.url !== after.url;
}
