/** Tables of the registry as Kysely sees them; made by the steps of `migrations/`. Times are epoch milliseconds, flags 0 or 1. */
import type { Generated } from 'kysely';
import type { Category } from '../../domain/category.ts';
import type { HeartbeatKind } from '../../domain/heartbeat-body.ts';
import type { IncidentStatus, Severity } from '../../domain/incident.ts';
import type { MaintenancePhase } from '../../domain/maintenance.ts';
import type { CheckKind, ServiceOrigin } from '../../domain/service.ts';
import type { ServiceStatus, Verdict } from '../../domain/status.ts';

/**
 * Every service that there ever was: a removed one keeps its row, so that its id is never given again, nor its slug
 * where it was verified once.
 */
export interface ServicesTable {
  id: Generated<number>;
  slug: string;
  /** The domain with dots replaced by dashes. */
  dashed: string;
  name: string;
  domain: string;
  category: Category;
  origin: ServiceOrigin;
  account_id: number | null;
  verified: number;
  paused: number;
  /** JSON of CheckDefinition. */
  check_definition: string;
  /** JSON of StatusPage. */
  status_page: string | null;
  revision: number;
  removed: number;
  public_dependencies: number;
  /** 1: it was verified once; only such a service keeps its slug reserved when it is removed. */
  ever_verified: number;
  /** JSON of slugs that it had before and still answers to; null: none. */
  former_slugs: string | null;
}

/** The feed of changes; `service` is the JSON of the service after the change, null for a removal. */
export interface ChangesTable {
  seq: Generated<number>;
  service_id: number;
  slug: string;
  service: string | null;
}

/** The current record of each service, removed ones included: a service that returns goes on where it was. */
export interface CurrentTable {
  service_id: number;
  seq: number;
  observed_at: number;
  status: ServiceStatus;
  since: number | null;
  /** JSON of LatestCheck. */
  latest: string | null;
  /** JSON of ProbeMemory; null: nothing learnt. */
  memory: string | null;
}

/** The feed of transitions. */
export interface TransitionsTable {
  position: Generated<number>;
  service_id: number;
  seq: number;
  from_status: ServiceStatus;
  to_status: Verdict;
  at: number;
  recorded_at: number;
  /** In English. */
  reason: string | null;
  /** JSON of the reason; null: a version before 0.2 wrote the text alone. */
  reason_code: string | null;
}

/**
 * Incidents. `listed` (the service is not removed) and `verified` repeat what the service's row says, so that a
 * page of the list is one walk along an index however far down it lies.
 */
export interface IncidentsTable {
  id: string;
  service_id: number;
  source: 'own' | 'vendor';
  title: string;
  description: string;
  severity: Severity;
  status: IncidentStatus;
  started_at: number;
  resolved_at: number | null;
  source_url: string;
  good_checks: number;
  /** JSON of IncidentUpdate[]. */
  updates: string;
  listed: number;
  verified: number;
}

/** Which incident or maintenance an entry of a vendor's feed became; the key is service, feed and entry. */
export interface VendorEntriesTable {
  service_id: number;
  /** Identity of the feed. */
  feed: string;
  /** The vendor's identifier. */
  entry: string;
  /** Of the incident, and of the maintenance. */
  id: string;
  /** The document of the feed that listed it last. */
  document: string;
  kind: 'incident' | 'maintenance';
  /** 1: not resolved, not over. */
  open: number;
}

/** Maintenances that vendors announced. */
export interface MaintenancesTable {
  id: string;
  service_id: number;
  title: string;
  description: string;
  starts_at: number;
  ends_at: number | null;
  told: 'planned' | 'running' | 'done';
  phase: MaintenancePhase;
  /** When the phase changes by the clock; null: never. */
  due_at: number | null;
  source_url: string;
  /** JSON of IncidentUpdate[]. */
  updates: string;
}

/** The last heartbeats of each service; `id` is service × 100 + number % 100. */
export interface HeartbeatsTable {
  id: number;
  /** Of the service's heartbeats, from 0. */
  number: number;
  kind: HeartbeatKind;
  arrived_at: number;
  timestamp: number | null;
  counted: number;
  verdict: Verdict | null;
  response_time: number | null;
  run: string | null;
  run_ms: number | null;
  body: string;
}

/** What is known of each service that ever sent a heartbeat. */
export interface HeartbeatServicesTable {
  service_id: number;
  count: number;
  /** Of the newest that counted. */
  arrived_at: number | null;
  /** Newest timestamp of those that counted. */
  timestamp: number | null;
  reported_at: number | null;
  /** JSON of DependencyState[]. */
  dependencies: string;
}

/** Runs that have begun. */
export interface HeartbeatRunsTable {
  id: Generated<number>;
  service_id: number;
  run: string;
  started_at: number;
}

/** Changes of dependencies; status null: no longer reported. */
export interface DependencyChangesTable {
  id: Generated<number>;
  service_id: number;
  name: string;
  status: Verdict | null;
  at: number;
}

/** Dependencies that are down by the newest report of their service; `folded` is how names are counted together. */
export interface FailingDependenciesTable {
  service_id: number;
  name: string;
  folded: string;
  since: number;
}

/** Accounts. */
export interface AccountsTable {
  id: Generated<number>;
  name: string;
  created_at: number;
}

/** Keys; the secret itself is nowhere. */
export interface ApiKeysTable {
  id: Generated<number>;
  account_id: number;
  name: string;
  prefix: string;
  sha256: Uint8Array;
  created_at: number;
  last_used_at: number | null;
  expires_at: number | null;
  revoked_at: number | null;
}

/** Who a person is at a provider. */
export interface IdentitiesTable {
  provider: string;
  subject: string;
  account_id: number;
  created_at: number;
}

/** Sessions; the token itself is nowhere. */
export interface SessionsTable {
  sha256: Uint8Array;
  account_id: number;
  created_at: number;
  expires_at: number;
}

/** Domains that accounts want and have not verified. */
export interface DomainClaimsTable {
  account_id: number;
  domain: string;
  kind: CheckKind;
  created_at: number;
}

/** When accounts registered domains, those that are gone again included. */
export interface DomainRegistrationsTable {
  id: Generated<number>;
  account_id: number;
  at: number;
}

/** What accounts must be told. */
export interface AccountNoticesTable {
  id: Generated<number>;
  account_id: number;
  at: number;
  /** In English. */
  text: string;
  /** JSON of the notice; null: an earlier version wrote the text alone. */
  notice: string | null;
}

/** Webhooks; the secret signs, so it is kept encrypted, to be read again. */
export interface WebhooksTable {
  id: Generated<number>;
  account_id: number;
  url: string;
  secret: string;
  created_at: number;
}

/** Webhook deliveries, pending and settled. `due_at` null: no further attempt. */
export interface DeliveriesTable {
  id: Generated<number>;
  message: string;
  webhook_id: number;
  type: string;
  body: string;
  created_at: number;
  due_at: number | null;
  attempts: Generated<number>;
  delivered_at: number | null;
  /** In English. */
  problem: string | null;
  /** JSON of the problem; null: a version before 0.2 wrote the text alone. */
  problem_code: string | null;
}

/** Status pages of one's own; a removed one keeps its row, so that its slug stays its account's. */
export interface StatusPagesTable {
  id: Generated<number>;
  account_id: number;
  slug: string;
  title: string;
  text: string;
  /** JSON of PageGroup[]. */
  groups: string;
  /** JSON of PageLogo; null: none. */
  logo: string | null;
  revision: number;
  created_at: number;
  updated_at: number;
  removed: number;
}

/** Logos of live pages. */
export interface StatusPageLogosTable {
  page_id: number;
  bytes: Uint8Array;
}

/** Where owners' domains led when their probing was allowed. */
export interface OwnerAddressesTable {
  address: string;
  service_id: number;
}

/** Facts by name. */
export interface FactsTable {
  name: string;
  value: string;
}

/** The writer lease: one row. `fence` only grows; `pid` null: released. */
export interface LeaseTable {
  id: number;
  fence: number;
  pid: number | null;
  host: string | null;
  renewed_at: number;
  /** What `identityOf` says of the holder; null: its system does not tell. */
  process: string | null;
}

/** All tables. */
export interface RegistrySchema {
  services: ServicesTable;
  changes: ChangesTable;
  current: CurrentTable;
  transitions: TransitionsTable;
  incidents: IncidentsTable;
  vendor_entries: VendorEntriesTable;
  maintenances: MaintenancesTable;
  heartbeats: HeartbeatsTable;
  heartbeat_services: HeartbeatServicesTable;
  heartbeat_runs: HeartbeatRunsTable;
  dependency_changes: DependencyChangesTable;
  failing_dependencies: FailingDependenciesTable;
  accounts: AccountsTable;
  api_keys: ApiKeysTable;
  identities: IdentitiesTable;
  sessions: SessionsTable;
  owner_addresses: OwnerAddressesTable;
  webhooks: WebhooksTable;
  deliveries: DeliveriesTable;
  status_pages: StatusPagesTable;
  status_page_logos: StatusPageLogosTable;
  domain_claims: DomainClaimsTable;
  domain_registrations: DomainRegistrationsTable;
  account_notices: AccountNoticesTable;
  facts: FactsTable;
  lease: LeaseTable;
}
