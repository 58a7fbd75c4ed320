/** Text that jobs send about their runs to the heartbeat address of their service. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE heartbeat_logs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL REFERENCES services (id),
    at INTEGER NOT NULL,
    run TEXT,
    text TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX heartbeat_logs_service ON heartbeat_logs (service_id, id)`,
];
