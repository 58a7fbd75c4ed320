/** Heartbeats, runs, and the dependencies that services report. */

// The last 100 heartbeats of a service stand in places that are used in turn: id = service × 100 + number % 100. The
// newest report of dependencies is one JSON, for it is written with every heartbeat; only changes have rows.
/** Statements of the step, in order. */
export const statements = [
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
