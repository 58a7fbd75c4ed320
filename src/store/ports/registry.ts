/**
 * Port of the registry: what must never be lost. Every promise resolves after the commit is on disk,
 * and every commit is visible to the next read.
 */
import type { CurrentStatus, Transition } from '../../domain/current.ts';
import type { FeedEntry } from '../../domain/feed-entry.ts';
import type { Incident, IncidentStatus, Severity } from '../../domain/incident.ts';
import type { Maintenance } from '../../domain/maintenance.ts';
import type { ProbeMemory } from '../../domain/result.ts';
import type { Service } from '../../domain/service.ts';
import type { HeartbeatBook, HeartbeatWrite } from './heartbeats.ts';
import type { HeartbeatInbox } from './inbox.ts';
import type { OwnershipBook } from './ownership.ts';
import type { PageBook } from './status-pages.ts';
import type { WebhookBook } from './webhooks.ts';

/** A change of the list of services; `service` is null where it was removed. */
export interface ServiceChange {
  /** Position in the feed of changes, from 1, without gaps. */
  readonly seq: number;
  readonly serviceId: number;
  readonly slug: string;
  readonly service: Service | null;
}

/** A service as it is put in: the registry gives `id` and `revision`. */
export type NewService = Omit<Service, 'id' | 'revision'>;

/** What came of adding a service: its slug, or why it was refused. */
export type AddOutcome =
  | { readonly slug: string }
  | { readonly code: RegistryErrorCode; readonly message: string };

/** What putting the public list in did, counted. */
export interface CatalogueOutcome {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
}

/** What a judged result changes, written in one transaction by {@link Registry.commitJudgements}. */
export interface Judgement {
  readonly serviceId: number;
  /** The judgement holds only if the stored record still has this `seq`. */
  readonly expectedSeq: number;
  /** The record after it; its `seq` is `expectedSeq` or one more. */
  readonly current: CurrentStatus;
  /** Set where the status changed. */
  readonly transition: Omit<Transition, 'position'> | null;
  /** Own incident to write or replace, by its id. */
  readonly incident: Incident | null;
  /** What the prober has learnt; null: nothing new. */
  readonly memory: ProbeMemory | null;
  /** The heartbeat that it was judged from, written with it; absent: there was none. */
  readonly heartbeat?: HeartbeatWrite;
}

/**
 * `stale`: another writer was first; read again and judge again. Where `current.seq` is the very one that was expected,
 * the service was removed, or never was, or is no longer the heartbeat's account's: drop the result.
 */
export type CommitOutcome =
  | {
      readonly kind: 'committed';
      readonly transition: Transition | null;
      /** How long the run has lasted that its heartbeat ended, milliseconds; null: it ended none. Absent: no heartbeat. */
      readonly runMs?: number | null;
    }
  | { readonly kind: 'stale'; readonly current: CurrentStatus };

/** A service with all that the record and the engine must know of it at start. */
export interface ServiceState {
  readonly service: Service;
  readonly current: CurrentStatus;
  readonly memory: ProbeMemory;
  /** Own incident that is not yet resolved; null: none. */
  readonly openIncident: Incident | null;
  /** Newest timestamp that its heartbeats carried, epoch milliseconds; null or absent: none did. */
  readonly toldAt?: number | null;
  /** When its newest heartbeat that counted arrived, a start too, epoch milliseconds; null or absent: there was none. */
  readonly heardAt?: number | null;
}

/** An account that owns services and keys. */
export interface Account {
  readonly id: number;
  readonly name: string;
  readonly createdAt: number;
}

/** An account with what an operator must know of it. */
export interface AccountListing extends Account {
  /** Providers by which its person signs in; empty: it was made by the command line. */
  readonly providers: readonly string[];
  /** Keys, revoked and expired ones included. */
  readonly keys: number;
  readonly services: number;
}

/** A signed-in browser, as it is stored. */
export interface NewSession {
  /** SHA-256 of its token. */
  readonly sha256: Uint8Array;
  readonly accountId: number;
  readonly createdAt: number;
  readonly expiresAt: number;
}

/** Whose session it is. */
export interface Session extends Omit<NewSession, 'sha256'> {
  readonly accountName: string;
}

/** A key without its secret (decisions, Keys). */
export interface ApiKey {
  readonly id: number;
  readonly accountId: number;
  readonly accountName: string;
  readonly name: string;
  /** First characters of the key, for people to tell keys apart; never enough to guess it. */
  readonly prefix: string;
  readonly createdAt: number;
  /** Null: never used. */
  readonly lastUsedAt: number | null;
  /** Null: does not expire. */
  readonly expiresAt: number | null;
  /** Null: valid. */
  readonly revokedAt: number | null;
}

/** Where an incident stands in the list of its service. */
export type IncidentPlace = Pick<Incident, 'id' | 'serviceId' | 'startedAt'>;

/** What stands beside an incident. */
export interface IncidentNeighbours {
  readonly older: Incident | null;
  readonly newer: Incident | null;
}

/** Which incidents to list; newest `startedAt` first, then `id`. */
export interface IncidentQuery {
  readonly serviceId?: number;
  readonly status?: IncidentStatus;
  /** Leave out services that are not verified (decisions, Ownership). */
  readonly verifiedOnly?: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What one document of a vendor's feed lists for one service. */
export interface VendorReading {
  readonly serviceId: number;
  /** Of the service; part of the ids of its incidents. */
  readonly slug: string;
  /** Identity of the feed. */
  readonly feed: string;
  /** Kind of the feed; part of the ids of its incidents. */
  readonly kind: string;
  /** Name of the document among those of the feed. */
  readonly document: string;
  /** An incident that is no longer listed has ended. */
  readonly listsOnlyOpen: boolean;
  /** Epoch milliseconds. */
  readonly readAt: number;
  /** Those that concern the service; no two with the same key. */
  readonly entries: readonly FeedEntry[];
}

/** What vendors say of a service now. */
export interface VendorState {
  readonly serviceId: number;
  /** Unresolved incidents of vendors, newest start first, maintenances at work among them. */
  readonly open: readonly {
    readonly id: string;
    readonly severity: Severity;
    /** Epoch milliseconds. */
    readonly startedAt: number;
  }[];
  /** When the newest resolved one ended; null: there is none. */
  readonly lastResolvedAt: number | null;
  /** Planned and running ones by their start. */
  readonly maintenances: readonly Maintenance[];
}

/** Which maintenances to list: planned and running ones, by their start, then id. */
export interface MaintenanceQuery {
  readonly serviceId?: number;
  readonly limit: number;
  readonly offset: number;
}

/** Errors that a caller can act on; `code` is stable. */
export type RegistryErrorCode =
  | 'domain_taken'
  | 'slug_taken'
  /** The name equals or resembles that of a service of the catalogue. */
  | 'name_taken'
  | 'not_found'
  | 'account_limit'
  | 'shared_address'
  | 'foreign_domain'
  | 'catalogue_domain';

/** Durable memory of services, judgements, accounts and keys. */
export interface Registry extends HeartbeatInbox, HeartbeatBook, OwnershipBook, WebhookBook, PageBook {
  /** Every service with its state, for the start. */
  loadServices(): Promise<ServiceState[]>;
  /**
   * Replaces the public list as one transaction. A service that left the list keeps its slug reserved. Owners' services
   * make room: those that are not verified on domains of the list are removed, those that have an entry's slug or name
   * get another, and their owners are told. An entry never continues an owner's service.
   */
  putCatalogue(services: readonly NewService[]): Promise<CatalogueOutcome>;
  /** Adds an owner's service at the operator's word. Throws an error with a {@link RegistryErrorCode}. */
  addService(service: NewService): Promise<Service>;
  /**
   * Adds owners' services at the operator's word in one transaction, each under its dashed domain, or that with a number
   * where another service has it. The outcomes stand in the order of the input; one that is refused hinders no other.
   */
  addServices(services: readonly Omit<NewService, 'slug'>[]): Promise<AddOutcome[]>;
  /** Removes an owner's service by slug, which others may have then if it was never verified. Throws `not_found`. */
  removeService(slug: string): Promise<void>;
  /** Changes after `seq`, in order, at most 1,000. */
  changesAfter(seq: number): Promise<ServiceChange[]>;
  /** Calls `listener` with each change after `seq`, in order, also those of other processes, within 500 ms. */
  watchChanges(seq: number, listener: (change: ServiceChange) => void): () => void;
  /** The newest position of the feed of changes; 0: none. */
  lastChange(): Promise<number>;

  /** Writes judgements, each compare-and-set on its own; the outcomes stand in the order of the input. */
  commitJudgements(judgements: readonly Judgement[]): Promise<CommitOutcome[]>;
  /** Transitions after `position`, in order, with the present slugs of their services; without those of removed ones. */
  transitionsAfter(position: number, limit: number): Promise<Transition[]>;
  /** Newest position of the feed of transitions; 0: none. */
  lastTransition(): Promise<number>;
  /** Transitions of one service in `[from, to)`, oldest first, at most 1,000. */
  transitionsOf(serviceId: number, from: number, to: number): Promise<Transition[]>;

  listIncidents(query: IncidentQuery): Promise<Incident[]>;
  /** How many incidents `listIncidents` has for the query over all its pages. */
  countIncidents(query: Omit<IncidentQuery, 'limit' | 'offset'>): Promise<number>;
  /** Null: there is none, or its service was removed. */
  findIncident(id: string): Promise<Incident | null>;
  /** Incidents of a service from all sources that started at `from` or later: the newest 1,000 of them, oldest first. */
  incidentsSince(serviceId: number, from: number): Promise<Incident[]>;
  /** Those of its service that lists show just after and just before an incident; null: there is none. */
  incidentsBeside(incident: IncidentPlace): Promise<IncidentNeighbours>;

  /**
   * Takes in what vendors' feeds list, each exactly once however often it is read; what an earlier reading of the same
   * document listed and this one does not has ended. One transaction; the states of the services that changed.
   */
  putVendorReadings(readings: readonly VendorReading[]): Promise<VendorState[]>;
  /** Ends what a service has open from feeds other than `feed` (null: from any); its new state, null: nothing changed. */
  endOtherFeeds(serviceId: number, feed: string | null, at: number): Promise<VendorState | null>;
  /**
   * Moves every maintenance whose time has come by `now`, with its incident. The states of the services that changed,
   * and when the next is due (null: none is known).
   */
  advanceMaintenances(
    now: number,
  ): Promise<{ readonly states: readonly VendorState[]; readonly nextAt: number | null }>;
  /** The states of every service that a vendor ever spoke of, for the start. */
  loadVendorStates(): Promise<VendorState[]>;
  listMaintenances(query: MaintenanceQuery): Promise<Maintenance[]>;
  /** How many maintenances `listMaintenances` has for the query over all its pages. */
  countMaintenances(query: Omit<MaintenanceQuery, 'limit' | 'offset'>): Promise<number>;

  /** Finds or makes the account of that name. */
  ensureAccount(name: string, now: number): Promise<Account>;
  /** Every account, oldest first. */
  listAccounts(): Promise<AccountListing[]>;
  /**
   * The account of a person whom a provider vouches for, made at the first time. Its name is the one given, or that
   * with a number where an account has it already.
   */
  ensureIdentity(
    identity: { readonly provider: string; readonly subject: string; readonly name: string },
    now: number,
  ): Promise<Account>;
  createSession(session: NewSession): Promise<void>;
  /** Null: there is none with this SHA-256, or it is over at `now`. */
  findSession(sha256: Uint8Array, now: number): Promise<Session | null>;
  endSession(sha256: Uint8Array): Promise<void>;
  /** Ends every session of an account. */
  endSessionsOf(accountId: number): Promise<void>;

  /**
   * Stores a key by the SHA-256 of its value. Throws `account_limit` where the account has `maxPerAccount` keys that
   * work at `createdAt`; with that bound, of its keys that are revoked or expired the newest 50 are kept.
   */
  createKey(key: {
    accountId: number;
    name: string;
    prefix: string;
    sha256: Uint8Array;
    createdAt: number;
    expiresAt: number | null;
    maxPerAccount?: number;
  }): Promise<ApiKey>;
  /** The key with this SHA-256, revoked and expired ones included; null: none. Sees other processes' writes at once. */
  findKey(sha256: Uint8Array): Promise<ApiKey | null>;
  /** Oldest first; of one account where it is given. */
  listKeys(accountId?: number): Promise<ApiKey[]>;
  /** Revokes at `now`; false: there is no such key. Revoking twice keeps the first time. */
  revokeKey(id: number, now: number): Promise<boolean>;
  /** Notes uses of keys, as `[id, at]` pairs; the newest time wins. */
  touchKeys(uses: readonly (readonly [number, number])[]): Promise<void>;

  /** Small durable facts of the program, by name; null: unset. */
  getFact(name: string): Promise<string | null>;
  setFact(name: string, value: string): Promise<void>;

  close(): Promise<void>;
}
