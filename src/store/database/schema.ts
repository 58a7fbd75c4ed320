/** Tables of the registry as Kysely sees them; made by the steps of `migrations/`. Times are epoch milliseconds, flags 0 or 1. */
import type { Generated, Selectable } from 'kysely';
import type { HeartbeatKind } from '../../domain/heartbeat/heartbeat-body.ts';
import type { IncidentStatus, Severity } from '../../domain/incident/incident.ts';
import type { MaintenancePhase } from '../../domain/incident/maintenance.ts';
import type { Role } from '../../domain/role.ts';
import type { CheckKind } from '../../domain/service.ts';
import type { ServiceStatus, Verdict } from '../../domain/status.ts';
import type { WebhookFormat } from '../../domain/webhook-event.ts';
import type {
  AlertSchema,
  PostSchema,
  ServiceSchema,
  SignInSchema,
  SubscriptionSchema,
} from './account-schema.ts';

/** All tables. */
export interface RegistrySchema
  extends ServiceSchema,
    SignInSchema,
    AlertSchema,
    PostSchema,
    SubscriptionSchema {
  /** The current record of each service, including removed ones: a service that is added again continues from it. */
  current: {
    service_id: number;
    seq: number;
    observed_at: number;
    status: ServiceStatus;
    since: number | null;
    /** JSON of LatestCheck. */
    latest: string | null;
    /** JSON of ProbeMemory; null: empty. */
    memory: string | null;
    /** JSON of StoredRegions; null: at most one region checks. */
    regions: string | null;
  };
  /** The feed of transitions. */
  transitions: {
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
    /** JSON of ScopeChange; null: at most one region checked. */
    scope: string | null;
  };
  /**
   * Incidents. `listed` (the service is not removed) and `verified` (it is verified and public) repeat what the service's row
   * says, so that any page of the list is one index scan.
   */
  incidents: {
    id: string;
    service_id: number;
    source: 'own' | 'vendor';
    /** 1: the owner of the service says it; `source` is then `vendor`, which earlier versions know. */
    by_owner: Generated<number>;
    title: string;
    description: string;
    severity: Severity;
    status: IncidentStatus;
    started_at: number;
    resolved_at: number | null;
    source_url: string;
    good_checks: number;
    /** JSON of IncidentUpdate[]; of an owner's incident, the newest ones. */
    updates: string;
    /** Number of updates before them. */
    earlier: Generated<number>;
    listed: number;
    verified: number;
  };
  /** The incident or maintenance of each entry of a vendor's feed; the key is service, feed and entry. */
  vendor_entries: {
    service_id: number;
    /** Identity of the feed. */
    feed: string;
    /** The vendor's identifier. */
    entry: string;
    /** Of the incident, and of the maintenance. */
    id: string;
    /** The document of the feed that last listed it. */
    document: string;
    kind: 'incident' | 'maintenance';
    /** 1: not resolved, not over. */
    open: number;
  };
  /** Times in which the status page of a vendor could not be read. */
  unread_pages: {
    feed: string;
    from_at: number;
    /** Null: it cannot be read yet. */
    to_at: number | null;
  };
  /** Maintenances that vendors announced, and occurrences of those of owners. */
  maintenances: {
    id: string;
    service_id: number;
    title: string;
    description: string;
    starts_at: number;
    ends_at: number | null;
    told: 'planned' | 'running' | 'done';
    phase: MaintenancePhase;
    /** Time of the next change of phase, epoch milliseconds; null: none. */
    due_at: number | null;
    source_url: string;
    /** JSON of IncidentUpdate[]. */
    updates: string;
    /** ID in `owner_maintenances`; null: of a vendor. */
    owner_id: number | null;
    announced_at: number | null;
    /** 1: it is of other parts of the page than those of the service. */
    elsewhere: number;
  };
  /** The last heartbeats of each service; `id` is service × 100 + number % 100. */
  heartbeats: {
    id: number;
    /** Number of the heartbeat within its service, from 0. */
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
  };
  /** Summary of each service that has sent a heartbeat. */
  heartbeat_services: {
    service_id: number;
    count: number;
    /** Arrival of the newest heartbeat that counted, epoch milliseconds. */
    arrived_at: number | null;
    /** Newest timestamp of the heartbeats that counted, epoch milliseconds. */
    timestamp: number | null;
    reported_at: number | null;
    /** JSON of DependencyState[]. */
    dependencies: string;
  };
  /** Runs that have started and not ended. */
  heartbeat_runs: {
    id: Generated<number>;
    service_id: number;
    run: string;
    started_at: number;
  };
  /** The last logs of each service. */
  heartbeat_logs: {
    id: Generated<number>;
    service_id: number;
    at: number;
    run: string | null;
    text: string;
  };
  /** Changes of dependencies; status null: no longer reported. */
  dependency_changes: {
    id: Generated<number>;
    service_id: number;
    name: string;
    status: Verdict | null;
    at: number;
  };
  /** Dependencies that are down in the newest report of their service. `folded` is the name by which they are grouped. */
  failing_dependencies: {
    service_id: number;
    name: string;
    folded: string;
    since: number;
  };
  accounts: {
    id: Generated<number>;
    name: string;
    created_at: number;
    /** Null: it is not trusted. */
    trusted_at: number | null;
    trusted_by: string | null;
  };
  /** People who sign in. `account_id`: the account of their next session; null: their first one. */
  people: {
    id: Generated<number>;
    name: string;
    created_at: number;
    account_id: number | null;
  };
  /** The members of accounts. */
  members: {
    account_id: number;
    person_id: number;
    role: Role;
    since: number;
  };
  /**
   * Invitations; only a digest of the secret is stored. `person_id`: who opened it first; null: nobody yet. `setups`: number
   * of ways to sign in that were begun from it.
   */
  invitations: {
    id: Generated<number>;
    sha256: Uint8Array;
    account_id: number;
    inviter_id: number;
    role: Role;
    created_at: number;
    expires_at: number;
    person_id: number | null;
    setups: Generated<number>;
  };
  /** API keys; only a digest of the secret is stored. */
  api_keys: {
    id: Generated<number>;
    account_id: number;
    name: string;
    prefix: string;
    sha256: Uint8Array;
    created_at: number;
    last_used_at: number | null;
    expires_at: number | null;
    revoked_at: number | null;
    /** Words, separated by blanks. */
    scopes: Generated<string>;
  };
  /** Outcomes of changes with the keys of clients; `outcome` is encrypted. */
  idempotent_changes: {
    id: Generated<number>;
    account_id: number;
    key: string;
    fingerprint: string;
    outcome: string;
    created_at: number;
  };
  /** The identities of people at providers. */
  identities: {
    provider: string;
    subject: string;
    /** Of the first sign-in, for earlier versions. */
    account_id: number;
    /** Null: an earlier version wrote the identity during an upgrade. */
    person_id: number | null;
    created_at: number;
  };
  /** Sessions; only a digest of the token is stored. */
  sessions: {
    sha256: Uint8Array;
    account_id: number;
    /** Null: an earlier version wrote the session during an upgrade; it is not found. */
    person_id: number | null;
    created_at: number;
    expires_at: number;
  };
  /** Things that may be used once, and were; after `expires_at` it is refused anyway. */
  used_once: {
    sha256: Uint8Array;
    expires_at: number;
  };
  /** Domains that accounts claim and have not verified. */
  domain_claims: {
    account_id: number;
    domain: string;
    kind: CheckKind;
    created_at: number;
  };
  /** Times at which accounts registered domains, including domains that were removed since. */
  domain_registrations: {
    id: Generated<number>;
    account_id: number;
    at: number;
  };
  account_notices: {
    id: Generated<number>;
    account_id: number;
    at: number;
    /** In English. */
    text: string;
    /** JSON of the notice; null: an earlier version wrote the text alone. */
    notice: string | null;
  };
  /** Webhooks. The secret is stored encrypted, not as a digest, because it signs deliveries. */
  webhooks: {
    id: Generated<number>;
    account_id: number;
    url: string;
    secret: string;
    created_at: number;
    /** Null: `json`. */
    format: WebhookFormat | null;
  };
  /** Webhook deliveries, pending and settled. `due_at` null: no further attempt. */
  deliveries: {
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
  };
  /** Status pages of owners. A removed page keeps its row, so that no other account can take its slug. */
  status_pages: {
    id: Generated<number>;
    account_id: number;
    slug: string;
    title: string;
    text: string;
    note: Generated<string>;
    /** JSON of PageGroup[]. */
    groups: string;
    /** JSON of PagePicture; null: none. */
    logo: string | null;
    /** JSON of PagePicture; null: none. */
    favicon: string | null;
    revision: number;
    created_at: number;
    updated_at: number;
    removed: number;
    /** `#rrggbb`; null: none. */
    colour: string | null;
    /** 1: only members of the account see it. */
    /** 1: not everyone sees the page. */
    members_only: Generated<number>;
    /** Of a page that is also seen by those who know its password (Argon2id, PHC string); null: it has none. */
    password_hash: Generated<string | null>;
    /** Host name in lower case; null: none. */
    domain: string | null;
    /** Null: its account has not proved it, or the proof lapsed. */
    domain_proved_at: number | null;
    /** Time of the last check of the proof. */
    domain_checked_at: number | null;
    /** Since when the proof is missing; null: the last check found it. */
    domain_missing_since: number | null;
  };
  /** Logos of live pages. */
  status_page_logos: {
    page_id: number;
    bytes: Uint8Array;
  };
  /** Favicons of live pages. */
  status_page_favicons: {
    page_id: number;
    bytes: Uint8Array;
  };
  /** The addresses of owners' domains at the time when their checks were permitted. */
  owner_addresses: {
    address: string;
    service_id: number;
  };
  /** Facts by name. */
  facts: {
    name: string;
    value: string;
  };
  /** The writer lease: one row. `fence` only increases; `pid` null: released. */
  lease: {
    id: number;
    fence: number;
    pid: number | null;
    host: string | null;
    renewed_at: number;
    /** The holder's `identityOf`; null: its system does not provide it. */
    process: string | null;
  };
}

export type Row<Table extends keyof RegistrySchema> = Selectable<RegistrySchema[Table]>;
