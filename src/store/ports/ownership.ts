/** The part of the registry's port that concerns who owns which domain. */
import type { CheckKind, Service } from '../../domain/service.ts';

/** Domains that one account registers within 24 hours at most, those that are gone again included (decisions, Ownership). */
export const MAX_REGISTRATIONS_PER_DAY = 200;

/** A domain that an account wants and has not shown control of. */
export interface DomainClaim {
  readonly domain: string;
  /** How it is to be monitored once it is verified. */
  readonly kind: CheckKind;
  readonly createdAt: number;
}

/** Something that an account must be told. */
export interface AccountNotice {
  readonly id: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly text: string;
}

/** What the registry knows of ownership (decisions, Ownership). */
export interface OwnershipBook {
  /** The account's services by slug. */
  servicesOf(accountId: number): Promise<Service[]>;
  /** Notes what an account wants; at most 100 claims an account. Throws `account_limit`. */
  addClaim(accountId: number, claim: DomainClaim): Promise<void>;
  /** Oldest first. */
  claimsOf(accountId: number): Promise<DomainClaim[]>;
  dropClaim(accountId: number, domain: string): Promise<void>;
  /**
   * The account has shown control of the domain: its service becomes verified, another account's service with that
   * domain becomes its own, with its history and without what the other account reported, or it is registered. Its slug
   * becomes the dashed form of the domain, unless the catalogue or another verified service has that; it answers to the
   * old one too. All accounts that this concerns are told. One transaction. Throws `account_limit`.
   */
  proveDomain(accountId: number, domain: string, kind: CheckKind, now: number): Promise<Service>;
  /**
   * Notes where an owner's domain leads, before it is probed. Throws `shared_address` where 20 other services of owners
   * lead to one of the addresses.
   */
  claimAddresses(domain: string, addresses: readonly string[]): Promise<void>;
  /** Newest first, at most 20. */
  noticesOf(accountId: number): Promise<AccountNotice[]>;
  dropNotice(accountId: number, id: number): Promise<void>;
}
