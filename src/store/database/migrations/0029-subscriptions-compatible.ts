/** Subscriptions of visitors, and the letters that are not messages of channels. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE subscriptions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL,
    mailbox TEXT NOT NULL,
    address TEXT NOT NULL,
    language TEXT NOT NULL,
    sha256 TEXT NOT NULL UNIQUE,
    secret TEXT NOT NULL,
    refusals INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER
  ) STRICT`,
  `CREATE UNIQUE INDEX subscriptions_mailbox ON subscriptions (mailbox, topic)`,
  `CREATE INDEX subscriptions_topic ON subscriptions (topic, id) WHERE confirmed_at IS NOT NULL`,
  `CREATE INDEX subscriptions_unconfirmed ON subscriptions (created_at) WHERE confirmed_at IS NULL`,
  `CREATE TABLE subscription_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    service_id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    change TEXT NOT NULL,
    after_id INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX subscription_changes_unwritten ON subscription_changes (id) WHERE written = 0`,
  `CREATE TABLE letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    subscription_id INTEGER,
    change_id INTEGER,
    channel_id INTEGER,
    secret TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX letters_due ON letters (due_at)`,
  `CREATE INDEX letters_subscription ON letters (subscription_id, id)`,
  `CREATE INDEX letters_change ON letters (change_id) WHERE change_id IS NOT NULL`,
  `CREATE TABLE letter_counts (
    name TEXT NOT NULL,
    day INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (name, day)
  ) STRICT`,
  `CREATE TABLE channel_confirmations (
    sha256 TEXT PRIMARY KEY,
    channel_id INTEGER NOT NULL,
    mailbox TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX channel_confirmations_channel ON channel_confirmations (channel_id)`,
];
