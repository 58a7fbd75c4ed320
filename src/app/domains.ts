/** Claims of domains, and proofs of control over them (decisions, Ownership). */
import type { DomainProofs } from '../auth/domain-proof.ts';
import { type CheckKind, MONITORING_KINDS, type Service } from '../domain/service.ts';
import { settingFields } from '../kinds/settings.ts';
import {
  type AccountPrincipal,
  accept,
  attempt,
  type Outcome,
  refuse,
  refuseRole,
} from '../resources/kit/change.ts';
import { readAll, readDomain, readKind } from '../resources/kit/read-input.ts';
import type { OwnershipStore } from '../store/ports/ownership.ts';
import { type CheckedPlace, claimPlace } from './services.ts';

/** The dependencies of changes of claims. */
export interface DomainContext {
  readonly registry: OwnershipStore;
  readonly proofs: Pick<DomainProofs, 'check'>;
  /** The addresses to which a domain resolves now. */
  readonly resolve: (domain: string) => Promise<readonly string[]>;
  readonly now: () => number;
}

/** The input of a claim. */
export interface ClaimInput {
  readonly domain: string;
  /** The kind of check of the service after verification. */
  readonly kind: string;
}

/** Kinds of checks that a domain can be claimed for: those without required settings, which are entered afterwards. */
export function claimKinds(): readonly CheckKind[] {
  return MONITORING_KINDS.filter((kind) => requiredSetting(kind) === undefined);
}

/** The first required setting of a kind; undefined: there is none. */
function requiredSetting(kind: CheckKind): string | undefined {
  return settingFields(kind).find(({ required }) => required)?.name;
}

/** Reads the kind of a claim. Refused with `kind_invalid`, `kind_unavailable` or `setting_invalid`. */
function readClaimKind(word: string): Outcome<CheckKind> {
  const reading = readKind(word);
  const setting = reading.ok ? requiredSetting(reading.value) : undefined;
  if (setting === undefined) return reading;
  return refuse({ code: 'setting_invalid', setting, problem: { code: 'missing' } }, 'kind');
}

/**
 * Claims a domain. Refused with `role_required`, `domain_invalid`, `kind_invalid`, `kind_unavailable`, `setting_invalid` if
 * the kind has a required setting, or `too_many_claims`.
 */
export async function addClaim(
  { registry, now }: DomainContext,
  principal: AccountPrincipal,
  { domain, kind }: ClaimInput,
): Promise<Outcome<void>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const { accountId } = principal;
  const reading = readAll({ domain: readDomain(hostOf(domain)), kind: readClaimKind(kind) });
  if (!reading.ok) return reading;
  return await attempt(() => registry.addClaim(accountId, { ...reading.value, createdAt: now() }), 'domain');
}

/** The host of a URL, which people paste from their browser; any other text as it is. */
function hostOf(text: string): string {
  const entered = text.trim();
  if (!/^https?:\/\//i.test(entered)) return text;
  return URL.parse(entered)?.hostname ?? text;
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

/** Verifies a claimed domain, which becomes a service of the account. Refused as {@link verifyDomain}, and with `no_claim`. */
export async function verifyClaim(
  context: DomainContext,
  principal: AccountPrincipal,
  domain: string,
): Promise<Outcome<Service>> {
  const denied = refuseRole(principal, 'editor');
  if (denied !== null) return denied;
  const claim = (await context.registry.claimsOf(principal.accountId)).find((one) => one.domain === domain);
  if (claim === undefined) return refuse({ code: 'no_claim', domain });
  return await verifyDomain(context, principal, domain, { kind: claim.kind, url: null });
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
