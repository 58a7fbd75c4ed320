/** What owners say themselves: incidents and maintenance. */

// An earlier version takes the incident or maintenance of an owner for one of a vendor.
/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE owner_incidents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    title TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('minor', 'major', 'critical')),
    status TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    resolved_at INTEGER,
    services TEXT NOT NULL,
    pages TEXT NOT NULL,
    updates TEXT NOT NULL,
    post_mortem TEXT,
    site_url TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX owner_incidents_account ON owner_incidents (account_id, started_at DESC, id DESC)`,
  `CREATE TABLE owner_maintenances (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    title TEXT NOT NULL,
    markdown TEXT NOT NULL,
    plain TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    duration_ms INTEGER NOT NULL,
    time_zone TEXT NOT NULL,
    recurrence TEXT,
    services TEXT NOT NULL,
    pages TEXT NOT NULL,
    changes TEXT NOT NULL,
    site_url TEXT NOT NULL,
    cancelled_at INTEGER,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX owner_maintenances_account ON owner_maintenances (account_id, id)`,
  `ALTER TABLE incidents ADD COLUMN by_owner INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE maintenances ADD COLUMN owner_id INTEGER`,
  `ALTER TABLE maintenances ADD COLUMN announced_at INTEGER`,
  `CREATE INDEX maintenances_owner ON maintenances (owner_id, phase) WHERE owner_id IS NOT NULL`,
  `CREATE INDEX maintenances_owned ON maintenances (service_id, starts_at) WHERE owner_id IS NOT NULL`,
  `CREATE INDEX incidents_owner ON incidents (service_id) WHERE by_owner = 1`,
];
