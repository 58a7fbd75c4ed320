/** Services, their status, transitions, incidents, accounts and keys. */

// Feeds are AUTOINCREMENT: a number is never given twice, and a rolled back transaction leaves no gap.
// The indexes of incidents follow the list's order, newest first, then id (decisions, Incidents); `WHERE` makes each
// of them hold the rows of one kind of list only, so that paging never meets a row that it must leave out.
/** Statements of the step, in order. */
export const statements = [
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
