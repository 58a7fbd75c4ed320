/** Port of the registry: which account owns which domain (decisions, Ownership). */
import type { CheckKind, Service } from '../../domain/service.ts';

/** Domains that one account may register within 24 hours, removed ones included (decisions, Ownership). */
export const MAX_REGISTRATIONS_PER_DAY = 200;

/** Domains of one account that wait to be verified. */
export const MAX_CLAIMS = 100;

/** Services of owners that may lead to one address (decisions, Ownership). */
export const MAX_SERVICES_PER_ADDRESS = 20;

/** A domain that an account wants, and has not shown control of. */
export interface DomainClaim {
  readonly domain: string;
  /** How the service is monitored once the domain is verified. */
  readonly kind: CheckKind;
  /** Epoch milliseconds. */
  readonly createdAt: number;
}

/** Ownership of domains. */
export interface OwnershipStore {
  /**
   * The account's service with that domain, in one transaction: it becomes heartbeat-monitored unless its owner chose
   * otherwise, and is registered if no account has the domain. Rejects with `foreign_domain` (another account has it),
   * `catalogue_domain` (it lies within a domain of the catalogue and is not verified) or `account_limit` (the account
   * has as many domains as it may have, or registered {@link MAX_REGISTRATIONS_PER_DAY} within a day).
   */
  claimDomain(domain: string, accountId: number): Promise<Service>;
  /** Stores a claim; at most {@link MAX_CLAIMS} an account. Rejects with `account_limit`. */
  addClaim(accountId: number, claim: DomainClaim): Promise<void>;
  /** Oldest first. */
  claimsOf(accountId: number): Promise<DomainClaim[]>;
  dropClaim(accountId: number, domain: string): Promise<void>;
  /**
   * Gives a domain to the account that has shown control of it, in one transaction: its service becomes verified;
   * another account's service with that domain changes hands, with its history and without what the other account
   * reported; or the domain is registered. The slug becomes the dashed form of the domain, unless the catalogue or
   * another verified service has that; the old slug still leads to the service. All accounts concerned receive a
   * notice. Rejects with `account_limit`.
   */
  proveDomain(accountId: number, domain: string, kind: CheckKind, now: number): Promise<Service>;
  /**
   * Stores the addresses of an owner's domain before it is probed. Rejects with `shared_address` if
   * {@link MAX_SERVICES_PER_ADDRESS} other services of owners lead to one of them.
   */
  claimAddresses(domain: string, addresses: readonly string[]): Promise<void>;
}
