/**
 * Port of the registry: durable data that must never be lost. Every promise resolves after the commit is on disk, and every commit is
 * visible to the next read. Callers depend only on the stores that they need; `Registry` combines all of them.
 */
import type { ContentStore } from './account-content.ts';
import type { AccountStore, MergeStore, NoticeStore } from './accounts.ts';
import type { AlertStore, RuleStore } from './alerts.ts';
import type { ChannelStore, MessageStore } from './channels.ts';
import type { CredentialStore } from './credentials.ts';
import type { HeartbeatStore } from './heartbeats.ts';
import type { IdempotencyStore, IdempotentName } from './idempotency.ts';
import type { InboxStore } from './inbox.ts';
import type { IncidentStore } from './incidents.ts';
import type { InvitationStore } from './invitations.ts';
import type { KeyStore } from './keys.ts';
import type { LeaseStore } from './lease.ts';
import type { MemberStore } from './members.ts';
import type { OwnershipStore } from './ownership.ts';
import type { PeopleStore } from './people.ts';
import type { PostStore } from './posts.ts';
import type { RetentionStore } from './retention.ts';
import type { CatalogueStore, ServiceChangeFeed, ServiceStateStore, ServiceStore } from './services.ts';
import type { SetupLinkStore, SignInGuardStore, SignInStore } from './sign-in.ts';
import type { PageDomainStore, PageStore } from './status-pages.ts';
import type { WriteCounter } from './storage-health.ts';
import type { LetterStore, SubscriptionStore } from './subscriptions.ts';
import type { UpdateStore } from './updates.ts';
import type { VendorStore } from './vendors.ts';
import type { WebhookStore } from './webhooks.ts';

/** Small durable facts of the program, by name. */
export interface FactStore {
  /** Null: unset. */
  getFact(name: string): Promise<string | null>;
  setFact(name: string, value: string): Promise<void>;
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
    WriteCounter {
  close(): Promise<void>;
}

/** Changes that can be made once. */
export type IdempotentCalls = Pick<Registry, IdempotentName>;
