/** The entries of vendors' feeds, beside the incidents that they became. */

// `vendor_entries` ties an entry of a feed to the incident that it became, so that it never becomes a second one.
// `open` marks what a later read may end. A maintenance waits in its own table until it starts; `due_at` is when its
// phase changes by the clock.
/** Statements of the step, in order. */
export const statements = [
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
