/** Heartbeats that serving processes store for the monitor. */

/** Statements of the step, in order. */
export const statements = [
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
