/**
 * Port of the registry: durable data that must never be lost. Every promise resolves after the commit is on disk, and every commit is
 * visible to the next read. Callers depend only on the stores that they need; `Registry` combines all of them.
 */
import type { ContentStore } from './account-content.ts';
import type { AccountStore, KeyStore, MemberStore, MergeStore, NoticeStore } from './accounts.ts';
import type { AlertStore, RuleStore } from './alerts.ts';
import type { ChannelStore, MessageStore } from './channels.ts';
import type { HeartbeatStore, InboxStore } from './heartbeats.ts';
import type { IdempotencyStore, IdempotentName } from './idempotency.ts';
import type { IncidentStore, PostStore } from './incidents.ts';
import type { LeaseStore } from './lease.ts';
import type { InvitationStore, PeopleStore } from './people.ts';
import type {
  CatalogueStore,
  CredentialStore,
  OwnershipStore,
  ServiceChangeFeed,
  ServiceStateStore,
  ServiceStore,
} from './services.ts';
import type { SetupLinkStore, SignInGuardStore, SignInStore } from './sign-in.ts';
import type { PageDomainStore, PageStore } from './status-pages.ts';
import type { WriteCounter } from './storage-health.ts';
import type { LetterStore, SubscriptionStore } from './subscriptions.ts';
import type { RetentionStore, UpdateStore } from './updates.ts';
import type { VendorStore } from './vendors.ts';
import type { WebhookStore } from './webhooks.ts';

/** Small durable facts of the program, by name. */
export interface FactStore {
  /** Null: unset. */
  getFact(name: string): Promise<string | null>;
  setFact(name: string, value: string): Promise<void>;
}

/** Facts that are made once, and then are the same for all processes. */
export interface SharedFactStore extends Pick<FactStore, 'getFact'> {
  /** Sets a fact that is unset. Returns its value. */
  ensureFact(name: string, value: string): Promise<string>;
}

export interface Registry
  extends ServiceStore,
    ServiceStateStore,
    ServiceChangeFeed,
    CatalogueStore,
    UpdateStore,
    IncidentStore,
    RetentionStore,
    VendorStore,
    PostStore,
    HeartbeatStore,
    InboxStore,
    AccountStore,
    MergeStore,
    NoticeStore,
    SignInStore,
    SetupLinkStore,
    SignInGuardStore,
    PeopleStore,
    MemberStore,
    InvitationStore,
    OwnershipStore,
    CredentialStore,
    KeyStore,
    IdempotencyStore,
    WebhookStore,
    ChannelStore,
    MessageStore,
    RuleStore,
    AlertStore,
    SubscriptionStore,
    LetterStore,
    PageStore,
    PageDomainStore,
    ContentStore,
    LeaseStore,
    FactStore,
    SharedFactStore,
    WriteCounter {
  close(): Promise<void>;
}

/** Changes that can be made once. */
export type IdempotentCalls = Pick<Registry, IdempotentName>;

/** Their names, for a cache that answers while the registry's server is unavailable. */
export const PUBLIC_READS = [
  'listIncidents',
  'countIncidents',
  'findIncident',
  'incidentsSince',
  'incidentsBeside',
  'incidentsOfServices',
  'listMaintenances',
  'countMaintenances',
  'maintenancesOfServices',
  'maintenancesPostedOn',
  'maintenancesPostedOf',
  'incidentsPostedOn',
  'findOwnerIncident',
  'announcedWindows',
  'dependenciesOf',
  'failingDependencies',
  'countFailingDependencies',
  'recentHeartbeats',
  'heartbeatLogs',
  'findPage',
  'unreadTimesSince',
] as const satisfies readonly (keyof Registry)[];

export type PublicReads = Pick<Registry, (typeof PUBLIC_READS)[number]>;
