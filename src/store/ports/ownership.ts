/** Port of the registry: which account owns which domain (decisions, Ownership). */
import type { CheckKind, Service } from '../../domain/service.ts';
import type { Beside, DefinedService } from './services.ts';

/** Maximum number of domains that one account may register within 24 hours, including removed ones (decisions, Ownership). */
export const MAX_REGISTRATIONS_PER_DAY = 200;

/** Maximum number of unverified claims of one account. */
export const MAX_CLAIMS = 100;

/** Maximum number of owners' services that may resolve to one address (decisions, Ownership). */
export const MAX_SERVICES_PER_ADDRESS = 20;

/** A domain that an account claims, and whose control it has not proved yet. */
export interface DomainClaim {
  readonly domain: string;
  /** The kind of check of the service after verification. */
  readonly kind: CheckKind;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

export interface OwnershipStore {
  /**
   * Returns the account's first service with that domain, or the one with the id, in one transaction. The service becomes
   * heartbeat-monitored unless its owner chose otherwise. It is registered if no account has the domain. Rejects with `not_found` (the
   * id is that of no service with the domain), `foreign_domain` (another account has it), `catalogue_domain` (it lies within a domain
   * of the catalogue and is not verified) or `account_limit` (the account has as many domains as it may have, or registered {@link
   * MAX_REGISTRATIONS_PER_DAY} within a day).
   */
  claimDomain(domain: string, accountId: number, serviceId?: number): Promise<Service>;
  /**
   * Registers a domain for an account with the definition of its service, in one transaction: as unverified, or, if the account
   * has proved control of the domain (`isProven`), as {@link proveDomain} does; or adds a service beside those that the account
   * has there, verified as they are. Rejects with `domain_taken` (the account has the domain, and the service may not be added
   * beside), `slug_taken`, `name_taken`, `account_limit`, and, without a proof, with `foreign_domain` and `catalogue_domain`.
   */
  registerService(
    accountId: number,
    service: DefinedService,
    options: { readonly isProven: boolean; readonly now: number; readonly beside?: Beside | undefined },
  ): Promise<Service>;
  /** Stores a claim; one that is there already stays as it is. Rejects with `account_limit` if the account has {@link MAX_CLAIMS}. */
  addClaim(accountId: number, claim: DomainClaim): Promise<void>;
  /** Oldest first. */
  claimsOf(accountId: number): Promise<DomainClaim[]>;
  dropClaim(accountId: number, domain: string): Promise<void>;
  /**
   * Assigns a domain to the account that has proved control of it, in one transaction: its services there become verified;
   * another account's services with that domain move to the account, with their history but without the reports of the
   * other account, but those beside the first one that were never verified are removed; or the domain is registered. The slug of
   * the first one becomes the dashed form of the domain, unless the catalogue or another verified service has that, or it has a
   * slug of its own, beside which that form leads to it; the old slug still leads to the service. All accounts concerned receive
   * a notice. Resolves with the first one. Rejects with `account_limit`.
   */
  proveDomain(accountId: number, domain: string, kind: CheckKind, now: number): Promise<Service>;
  /**
   * Stores the addresses of an owner's service before it is probed. Where no service of the domain is verified under the slug, they
   * are only judged; without a slug, other services of the domain do not count. Rejects with `shared_address` if {@link MAX_SERVICES_PER_ADDRESS} other services of owners resolve to one of them.
   */
  claimAddresses(domain: string, slug: string | null, addresses: readonly string[]): Promise<void>;
}
