/** Changes that clients made with an idempotency key, for a day, so that a repeated request makes none. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE idempotent_changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    outcome TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT`,
  `CREATE UNIQUE INDEX idempotent_changes_key ON idempotent_changes (account_id, key)`,
  `CREATE INDEX idempotent_changes_account ON idempotent_changes (account_id, id)`,
  `CREATE INDEX idempotent_changes_age ON idempotent_changes (created_at)`,
];
