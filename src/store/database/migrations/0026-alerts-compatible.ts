/** Channels and rules of accounts, the feed of events, what was decided about them, and the messages to channels. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE channels (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    settings TEXT NOT NULL,
    language TEXT NOT NULL,
    confirmed_at INTEGER,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX channels_name ON channels (account_id, name)`,
  `CREATE TABLE alert_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_rules_name ON alert_rules (account_id, name)`,
  `CREATE INDEX alert_rules_enabled ON alert_rules (id) WHERE enabled = 1`,
  `CREATE TABLE alert_events (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    change TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE alert_states (
    account_id INTEGER PRIMARY KEY REFERENCES accounts (id),
    state TEXT NOT NULL,
    due_at INTEGER
  ) STRICT`,
  `CREATE TABLE alert_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    turn INTEGER NOT NULL,
    thread TEXT NOT NULL,
    type TEXT NOT NULL,
    message TEXT NOT NULL,
    failed_at INTEGER,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    problem TEXT
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_messages_turn ON alert_messages (channel_id, turn)`,
  `CREATE INDEX alert_messages_waiting ON alert_messages (channel_id, turn) WHERE due_at IS NOT NULL`,
  `CREATE INDEX alert_messages_thread ON alert_messages (thread)`,
  `CREATE INDEX alert_messages_age ON alert_messages (created_at) WHERE due_at IS NULL`,
  `CREATE INDEX alert_messages_delay ON alert_messages (delivered_at) WHERE failed_at IS NOT NULL`,
  `CREATE TABLE alert_threads (
    channel_id INTEGER NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    thread TEXT NOT NULL,
    reference TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (channel_id, thread)
  ) STRICT`,
  `CREATE INDEX alert_threads_age ON alert_threads (updated_at)`,
  `CREATE TABLE alert_acknowledgements (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    thread TEXT NOT NULL,
    by_name TEXT NOT NULL,
    at INTEGER NOT NULL,
    decided INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE UNIQUE INDEX alert_acknowledgements_thread ON alert_acknowledgements (account_id, thread)`,
  `CREATE INDEX alert_acknowledgements_new ON alert_acknowledgements (id) WHERE decided = 0`,
];
