/** The first steps of SQLite, which end in the tables that the first step of PostgreSQL makes. */

/** Statements by the name of their step, in order. */
export const steps: Record<string, readonly string[]> = {};

// Services, their status, transitions, incidents, accounts and keys. Feeds are AUTOINCREMENT: a number is never given twice, and a
// rolled back transaction leaves no gap. The indexes of incidents follow the list's order, newest first, then id (decisions,
// Incidents); `WHERE` makes each of them hold the rows of one kind of list only, so that paging never meets a row that it must leave
// out.
steps['0001-first-tables'] = [
  `CREATE TABLE accounts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE services (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    dashed TEXT NOT NULL,
    name TEXT NOT NULL,
    domain TEXT NOT NULL,
    category TEXT NOT NULL,
    origin TEXT NOT NULL CHECK (origin IN ('catalogue', 'owner')),
    account_id INTEGER REFERENCES accounts (id),
    verified INTEGER NOT NULL,
    paused INTEGER NOT NULL,
    check_definition TEXT NOT NULL,
    status_page TEXT,
    revision INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX services_domain ON services (domain)`,
  `CREATE INDEX services_dashed ON services (dashed)`,
  `CREATE INDEX services_account ON services (account_id) WHERE account_id IS NOT NULL`,
  `CREATE TABLE changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL,
    slug TEXT NOT NULL,
    service TEXT
  ) STRICT`,
  `CREATE TABLE current (
    service_id INTEGER PRIMARY KEY REFERENCES services (id),
    seq INTEGER NOT NULL,
    observed_at INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('up', 'slow', 'down', 'unknown')),
    since INTEGER,
    latest TEXT,
    memory TEXT
  ) STRICT`,
  `CREATE TABLE transitions (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL REFERENCES services (id),
    seq INTEGER NOT NULL,
    from_status TEXT NOT NULL,
    to_status TEXT NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    reason TEXT,
    UNIQUE (service_id, seq)
  ) STRICT`,
  `CREATE INDEX transitions_of_service ON transitions (service_id, at, seq)`,
  `CREATE TABLE incidents (
    id TEXT NOT NULL PRIMARY KEY,
    service_id INTEGER NOT NULL REFERENCES services (id),
    source TEXT NOT NULL CHECK (source IN ('own', 'vendor')),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    severity TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    resolved_at INTEGER,
    source_url TEXT NOT NULL,
    good_checks INTEGER NOT NULL,
    updates TEXT NOT NULL,
    listed INTEGER NOT NULL,
    verified INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX incidents_listed ON incidents (started_at DESC, id) WHERE listed = 1`,
  `CREATE INDEX incidents_verified ON incidents (started_at DESC, id) WHERE listed = 1 AND verified = 1`,
  `CREATE INDEX incidents_status ON incidents (status, started_at DESC, id) WHERE listed = 1`,
  `CREATE INDEX incidents_status_verified ON incidents (status, started_at DESC, id) WHERE listed = 1 AND verified = 1`,
  `CREATE INDEX incidents_service ON incidents (service_id, started_at DESC, id)`,
  `CREATE INDEX incidents_open ON incidents (service_id) WHERE source = 'own' AND status <> 'resolved'`,
  `CREATE TABLE api_keys (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    sha256 BLOB NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at INTEGER,
    revoked_at INTEGER
  ) STRICT`,
  `CREATE INDEX api_keys_lookup ON api_keys (substr(sha256, 1, 8))`,
  `CREATE TABLE facts (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE lease (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    fence INTEGER NOT NULL,
    pid INTEGER,
    host TEXT,
    renewed_at INTEGER NOT NULL
  ) STRICT`,
  `INSERT INTO lease (id, fence, pid, host, renewed_at) VALUES (1, 0, NULL, NULL, 0)`,
];

// The entries of vendors' feeds, beside the incidents that they became. `vendor_entries` ties an entry of a feed to the incident
// that it became, so that it never becomes a second one. `open` marks what a later read may end. A maintenance waits in its own
// table until it starts; `due_at` is when its phase changes by the clock.
steps['0002-vendor-entries'] = [
  `CREATE TABLE vendor_entries (
    service_id INTEGER NOT NULL REFERENCES services (id),
    feed TEXT NOT NULL,
    entry TEXT NOT NULL,
    id TEXT NOT NULL,
    document TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('incident', 'maintenance')),
    open INTEGER NOT NULL,
    PRIMARY KEY (service_id, feed, entry)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX vendor_entries_open ON vendor_entries (service_id, feed, document) WHERE open = 1`,
  `CREATE TABLE maintenances (
    id TEXT NOT NULL PRIMARY KEY,
    service_id INTEGER NOT NULL REFERENCES services (id),
    title TEXT NOT NULL,
    description TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER,
    told TEXT NOT NULL CHECK (told IN ('planned', 'running', 'done')),
    phase TEXT NOT NULL CHECK (phase IN ('planned', 'running', 'ended')),
    due_at INTEGER,
    source_url TEXT NOT NULL,
    updates TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX maintenances_due ON maintenances (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX maintenances_ahead ON maintenances (starts_at, id) WHERE phase <> 'ended'`,
  `CREATE INDEX incidents_vendor ON incidents (service_id, resolved_at) WHERE source = 'vendor'`,
];

// Heartbeats, runs, and the dependencies that services report. The last 100 heartbeats of a service stand in places that are used in
// turn: id = service × 100 + number % 100. The newest report of dependencies is one JSON, for it is written with every heartbeat;
// only changes have rows.
steps['0003-heartbeats'] = [
  `ALTER TABLE services ADD COLUMN public_dependencies INTEGER NOT NULL DEFAULT 0`,
  `CREATE TABLE heartbeats (
    id INTEGER PRIMARY KEY,
    number INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('beat', 'start', 'fail')),
    arrived_at INTEGER NOT NULL,
    timestamp INTEGER,
    counted INTEGER NOT NULL,
    verdict TEXT,
    response_time INTEGER,
    run TEXT,
    run_ms INTEGER,
    body TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE heartbeat_services (
    service_id INTEGER PRIMARY KEY REFERENCES services (id),
    count INTEGER NOT NULL,
    arrived_at INTEGER,
    timestamp INTEGER,
    reported_at INTEGER,
    dependencies TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE heartbeat_runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL REFERENCES services (id),
    run TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    UNIQUE (service_id, run)
  ) STRICT`,
  `CREATE TABLE dependency_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL REFERENCES services (id),
    name TEXT NOT NULL,
    status TEXT,
    at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX dependency_changes_service ON dependency_changes (service_id, id)`,
  `CREATE TABLE failing_dependencies (
    service_id INTEGER NOT NULL REFERENCES services (id),
    name TEXT NOT NULL,
    folded TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (service_id, name)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX failing_dependencies_folded ON failing_dependencies (folded)`,
];

// The identities of accounts at providers, and sessions.
steps['0004-sign-in'] = [
  `CREATE TABLE identities (
    provider TEXT NOT NULL,
    subject TEXT NOT NULL,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (provider, subject)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE sessions (
    sha256 BLOB NOT NULL PRIMARY KEY,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX sessions_expiry ON sessions (expires_at)`,
];

// Domains that accounts want, and notices to accounts.
steps['0005-ownership'] = [
  `CREATE TABLE domain_claims (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('root', 'health', 'heartbeat')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, domain)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE account_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX account_notices_account ON account_notices (account_id, id)`,
];

const iso = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;

// The triggers write each delivery in the transaction of its change. Services without a webhook, such as those of the
// catalogue, cost one look into an index.
const matching = (service: string) =>
  `SELECT 1 FROM webhooks JOIN services ON services.account_id = webhooks.account_id WHERE services.id = ${service}`;

const deliver = (row: string, type: string, data: string) => `
  INSERT INTO deliveries (message, webhook_id, type, body, created_at, due_at)
  SELECT 'msg_' || lower(hex(randomblob(16))), webhooks.id, ${type},
    json_object('type', ${type}, 'timestamp', ${iso('now.at')}, 'data', json_object(
      'service', json_object('slug', services.slug, 'name', services.name, 'domain', services.domain), ${data})),
    now.at, now.at
  FROM webhooks JOIN services ON services.account_id = webhooks.account_id
  CROSS JOIN (SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS at) AS now
  WHERE services.id = ${row}.service_id`;

// Webhooks of owners, and deliveries that triggers make. Step 0014 replaces the triggers.
steps['0006-webhooks'] = [
  `CREATE TABLE webhooks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX webhooks_account ON webhooks (account_id)`,
  `CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message TEXT NOT NULL,
    webhook_id INTEGER NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    problem TEXT
  ) STRICT`,
  `CREATE INDEX deliveries_due ON deliveries (due_at) WHERE due_at IS NOT NULL`,
  `CREATE INDEX deliveries_webhook ON deliveries (webhook_id, id)`,
  `CREATE TRIGGER tell_transition AFTER INSERT ON transitions WHEN EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver(
    'NEW',
    `'service.status_changed'`,
    `'from', NEW.from_status, 'to', NEW.to_status, 'at', ${iso('NEW.at')}, 'reason', NEW.reason`,
  )}; END`,
  `CREATE TRIGGER tell_incident AFTER INSERT ON incidents WHEN EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver('NEW', `'incident.opened'`, incidentOf('NEW'))}; END`,
  `CREATE TRIGGER tell_incident_change AFTER UPDATE OF status ON incidents
  WHEN NEW.status <> OLD.status AND EXISTS (${matching('NEW.service_id')})
  BEGIN ${deliver(
    'NEW',
    `CASE NEW.status WHEN 'resolved' THEN 'incident.resolved' ELSE 'incident.updated' END`,
    incidentOf('NEW'),
  )}; END`,
];

function incidentOf(row: string): string {
  return `'incident', json_object('id', ${row}.id, 'title', ${row}.title, 'description', ${row}.description,
    'severity', ${row}.severity, 'status', ${row}.status, 'started_at', ${iso(`${row}.started_at`)},
    'resolved_at', ${iso(`${row}.resolved_at`)}, 'source_url', ${row}.source_url)`;
}

// The addresses of owners' domains when probing them was allowed.
steps['0007-owner-addresses'] = [
  `CREATE TABLE owner_addresses (
    address TEXT NOT NULL,
    service_id INTEGER NOT NULL REFERENCES services (id),
    PRIMARY KEY (address, service_id)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX owner_addresses_service ON owner_addresses (service_id)`,
];

// Status pages of owners. A removed page keeps its row, without what it said, so that its slug is never given to another account.
// Logos stand apart: a page is read far more often than its picture.
steps['0008-status-pages'] = [
  `CREATE TABLE status_pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    groups TEXT NOT NULL,
    logo TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX status_pages_account ON status_pages (account_id) WHERE removed = 0`,
  `CREATE TABLE status_page_logos (
    page_id INTEGER PRIMARY KEY REFERENCES status_pages (id),
    bytes BLOB NOT NULL
  ) STRICT`,
];

// Heartbeats that serving processes store for the monitor.
steps['0009-heartbeat-inbox'] = [
  `CREATE TABLE heartbeat_inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('beat', 'start', 'fail', 'refused')),
    account_id INTEGER NOT NULL,
    arrived_at INTEGER NOT NULL,
    body TEXT NOT NULL,
    answer TEXT
  ) STRICT`,
  `CREATE INDEX heartbeat_inbox_open ON heartbeat_inbox (id) WHERE answer IS NULL`,
];

// The pending deliveries of one webhook by an index, so that no webhook delays another.
steps['0010-webhook-queues'] = [
  `CREATE INDEX deliveries_webhook_due ON deliveries (webhook_id, due_at, id) WHERE due_at IS NOT NULL`,
];

// Reserved slugs, and the registrations of accounts.
steps['0011-slugs'] = [
  `ALTER TABLE services ADD COLUMN ever_verified INTEGER NOT NULL DEFAULT 0`,
  `UPDATE services SET ever_verified = verified`,
  `ALTER TABLE services ADD COLUMN former_slugs TEXT`,
  `CREATE INDEX services_former_slugs ON services (id) WHERE former_slugs IS NOT NULL`,
  // Services that were never verified and are gone reserve nothing.
  `UPDATE services SET slug = slug || '~' || id
   WHERE origin = 'owner' AND removed = 1 AND ever_verified = 0 AND instr(slug, '~') = 0`,
  `CREATE TABLE domain_registrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX domain_registrations_account ON domain_registrations (account_id, at)`,
];

// Which process holds the writer lease, beside its id.
steps['0012-lease-process'] = [`ALTER TABLE lease ADD COLUMN process TEXT`];

// The names of the catalogue by an index; each name that an owner gives is compared with them.
steps['0013-catalogue-names'] = [
  `CREATE INDEX services_catalogue_names ON services (name) WHERE origin = 'catalogue' AND removed = 0`,
];

// The writers of transitions and incidents write the deliveries of webhooks too, instead of triggers. A monitor of an earlier
// version that still runs would write no deliveries from now on: another fence makes it lose its lease, so that it writes nothing
// more. A registry that never had a monitor keeps its fence.
steps['0014-webhook-events'] = [
  `DROP TRIGGER tell_transition`,
  `DROP TRIGGER tell_incident`,
  `DROP TRIGGER tell_incident_change`,
  `UPDATE lease SET fence = fence + 1, pid = NULL, host = NULL, process = NULL WHERE fence > 0`,
];

// Notices have a code with parameters beside their English text, so that pages show them in their own language.
steps['0015-notice-codes'] = [`ALTER TABLE account_notices ADD COLUMN notice TEXT`];
