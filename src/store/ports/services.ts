/**
 * Port of the registry: the services, the ordered feed of their changes, which account owns which domain (decisions, Ownership), and the
 * credentials of checks.
 */
import type { CheckTarget } from '../../domain/check-target.ts';
import type { CredentialPlace } from '../../domain/credential-seal.ts';
import type { Incident } from '../../domain/incident/incident.ts';
import type { Refusal } from '../../domain/refusal.ts';
import type { ProbeMemory } from '../../domain/result.ts';
import type { CheckKind, Service, UNSAID } from '../../domain/service.ts';
import type { CurrentStatus } from '../../domain/status/current.ts';

/** Codes of errors that a caller can handle. They are stable. */
export type RegistryErrorCode =
  | 'domain_taken'
  | 'slug_taken'
  /** The name equals or resembles that of a service of the catalogue. */
  | 'name_taken'
  | 'not_found'
  /** The service was changed meanwhile. */
  | 'stale'
  /** A client's key was used for another request. */
  | 'idempotency_mismatch'
  | 'account_limit'
  | 'last_owner'
  /** A person keeps a way to sign in. */
  | 'last_way_in'
  | 'shared_address'
  | 'foreign_domain'
  | 'catalogue_domain'
  /** An account that is not trusted cannot become part of one that is. */
  | 'not_trusted'
  /** A parent is not a service of the account or the public list. */
  | 'no_parent'
  /** A service would depend on itself. */
  | 'parent_circle';

/** A change of the list of services. `service` is null if it was removed. */
export interface ServiceChange {
  /** Position in the feed of changes, from 1, without gaps. */
  readonly seq: number;
  readonly serviceId: number;
  readonly slug: string;
  readonly service: Service | null;
}

/**
 * A service before it is stored: the registry assigns `id` and `revision`. `verified`: control of the domain is proved; the trust of its
 * account is added when it is stored.
 */
export type NewService = Omit<Service, 'id' | 'revision'>;

/** The members of a service that its owner defines. */
export type DefinedService = Pick<
  NewService,
  'domain' | 'name' | 'category' | 'paused' | 'check' | 'isFurther' | keyof typeof UNSAID
> & {
  /** Absent: one of its domain. */
  readonly slug?: string;
};

/**
 * The condition for adding a service beside others of its account on the same host: `always`, as one with another slug
 * may, or `otherCheck`, where none of them has the same check. Absent: never.
 */
export type Beside = 'always' | 'otherCheck';

/** A service that is added on behalf of the operator. */
export type AddedService = Omit<NewService, 'slug'> &
  Pick<DefinedService, 'slug'> & { readonly beside?: Beside | undefined };

/** The outcome of adding a service: its slug, or why it was refused. */
export type AddOutcome =
  | { readonly slug: string }
  | { readonly code: RegistryErrorCode; readonly refusal: Refusal };

/** Entries of the public list, as a file has them. */
export interface CatalogueList {
  /** JSON texts of lists of {@link NewService}. */
  readonly pages: readonly string[];
  /** False: these are all entries. True: they are added, or replace those of the same slug; all others stay. */
  readonly isPart: boolean;
  /** Of the whole list, for `hasCatalogue`. */
  readonly digest: string;
}

/** The outcome of replacing the public list, counted in services. */
export interface CatalogueOutcome {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

export interface CataloguePageOutcome extends Omit<CatalogueOutcome, 'removed'> {
  /** The ids of its entries. */
  readonly ids: readonly number[];
}

/** A service with the state that the record and the engine need at start. */
export interface ServiceState {
  readonly service: Service;
  readonly current: CurrentStatus;
  readonly memory: ProbeMemory;
  /** The unresolved own incident; null: none. */
  readonly openIncident: Incident | null;
  /** The newest timestamp of its heartbeats, epoch milliseconds; null or absent: none had one. */
  readonly newestTimestamp?: number | null;
  /** Arrival of the newest heartbeat that counted, including starts, epoch milliseconds; null or absent: there was none. */
  readonly lastArrivedAt?: number | null;
}

/**
 * The properties of a service that its owner may change. Absent properties stay unchanged. A kind of check other than `heartbeat` is
 * the owner's choice; later heartbeats do not change it.
 */
export type ServiceEdit = Partial<
  Omit<DefinedService, 'domain' | 'slug' | 'isFurther'> & Pick<Service, 'verified' | 'badgeRenewals'>
>;

/** Reads all services with their states page by page. */
export interface ServicePages {
  /** The services with ids above `afterId`, up to `untilId`, and their states, by id. */
  servicesBetween(afterId: number, untilId: number): Promise<ServiceState[]>;
  /** The highest id of a service, live or removed; 0: there was none. */
  lastServiceId(): Promise<number>;
}

/** Services of the catalogue and of owners with their states. */
export interface ServiceStateStore extends ServicePages {
  /** All services with their states, for the start. */
  loadServices(): Promise<ServiceState[]>;
  /** The services with these ids and their states, in any order; an id of no live service is left out. */
  statesOf(serviceIds: readonly number[]): Promise<ServiceState[]>;
  /**
   * The services of these shards (`shardOf`) that need checks, with their state for checks from the region: the newest
   * check is that of the region.
   */
  loadTargets(shards: readonly number[], region: string): Promise<CheckTarget[]>;
  targetsOf(serviceIds: readonly number[], region: string): Promise<CheckTarget[]>;
}

/** The public list. */
export interface CatalogueStore {
  /**
   * Replaces the public list in one transaction. A service that left the list keeps its slug reserved. Owners' services
   * give way: unverified ones on domains of the list are removed, those with the slug or name of an entry get another
   * one, and their owners receive a notice. An entry never takes over an owner's service.
   */
  putCatalogue(list: readonly NewService[] | CatalogueList): Promise<CatalogueOutcome>;
  /**
   * Adds and changes the entries of one page, a JSON text of a list of {@link NewService}, in one transaction; all others stay. For a
   * list that is too long for one transaction, during which no other process could write: put all of its pages, then call {@link
   * endCatalogue}. Interrupted in between, it is put again from its first page. The list as a whole must be valid.
   */
  putCataloguePage(page: string): Promise<CataloguePageOutcome>;
  /**
   * Removes the entries that were on none of the pages, and owners' unverified services on domains of the list. `ids`: of the
   * entries of all pages. `digest`: of the whole list. Resolves with the number of entries removed.
   */
  endCatalogue(ids: Float64Array, digest: string): Promise<number>;
  /** Returns true if the list with that digest was the last one that was put, and no service has changed since. */
  hasCatalogue(digest: string): Promise<boolean>;
}

export interface ServiceStore {
  /** The account's services, ordered by slug. */
  servicesOf(accountId: number): Promise<Service[]>;
  /** Adds an owner's service on behalf of the operator. Rejects with a {@link RegistryErrorCode}. */
  addService(service: NewService): Promise<Service>;
  /**
   * Adds owners' services on behalf of the operator in one transaction. The first one of a host without a slug of its own gets
   * its dashed domain, others that with their name or kind, and a number is appended if another service has that slug. The
   * outcomes are in the order of the input; a refusal affects no other service.
   */
  addServices(services: readonly AddedService[]): Promise<AddOutcome[]>;
  /** The live service with that slug; null: there is none. */
  findService(slug: string): Promise<Service | null>;
  /**
   * Removes an owner's service. Its slug becomes free if it was never verified, and the oldest of the others on its host becomes the
   * first one if it was. Rejects with `not_found`, and with `stale` if `revisions` are given and do not contain that of the service.
   */
  removeService(slug: string, revisions?: readonly number[]): Promise<void>;
  /**
   * Changes an owner's service. Rejects with `not_found`, with `stale` as {@link removeService}, and with `name_taken` for a
   * name that equals or resembles that of a service of the catalogue.
   */
  changeService(slug: string, edit: ServiceEdit, revisions?: readonly number[]): Promise<Service>;
}

export interface ServiceChangeFeed {
  /** Changes after `seq`, in order, at most 1,000. */
  changesAfter(seq: number): Promise<ServiceChange[]>;
  /** The newest position of the feed of changes; 0: none. */
  lastChange(): Promise<number>;
  /**
   * Calls `listener` with each change after `seq`, in order, until the returned function is called. Changes by other
   * processes arrive within 500 ms.
   */
  watchChanges(seq: number, listener: (change: ServiceChange) => void): () => void;
}

/** Ids of services that are loaded by one call: as many services, at most. */
const IDS_PER_CALL = 2_500;

/**
 * Reads all services by several calls, so that a million of them never cross a connection, or threads, at once. While the caller
 * works on a page, two further ones are requested, so that the registry does not wait for the next request.
 */
export async function* servicePages({
  servicesBetween,
  lastServiceId,
}: ServicePages): AsyncGenerator<readonly ServiceState[], void, undefined> {
  const lastId = await lastServiceId();
  let requestedId = 0;
  const request = (): Promise<readonly ServiceState[]> | null => {
    if (requestedId >= lastId) return null;
    const afterId = requestedId;
    requestedId += IDS_PER_CALL;
    const page = servicesBetween(afterId, requestedId);
    // If the caller stops early, nothing else would catch a failure of this read.
    page.catch(() => {});
    return page;
  };
  let [next, second] = [request(), request()];
  while (next !== null) {
    const page = await next;
    [next, second] = [second, request()];
    yield page;
  }
}

export async function loadInPages(registry: ServicePages): Promise<ServiceState[]> {
  const states: ServiceState[] = [];
  for await (const page of servicePages(registry)) states.push(...page);
  return states;
}

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

export interface CredentialToSeal {
  readonly place: CredentialPlace;
  readonly text: string;
}

/** Encrypts credentials with the key of this installation. Only the nodes that make checks use them in clear text. */
export interface CredentialStore {
  /** The encrypted texts in the order of the input. Rejects with `secrets_key` if the key is missing or wrong. */
  sealCredentials(credentials: readonly CredentialToSeal[]): Promise<readonly string[]>;
  /**
   * Resolves with true for each sealed text that is that credential, sealed for that place. False for another key, too. No
   * credential is returned.
   */
  matchCredentials(
    credentials: readonly (CredentialToSeal & { readonly sealed: string })[],
  ): Promise<readonly boolean[]>;
  /** Returns true if each sealed text was sealed with another key than that of this process; false: this process has no key. */
  foreignCredentials(sealed: readonly string[]): Promise<readonly boolean[]>;
}
