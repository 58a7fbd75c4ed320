/** The identities of accounts at providers, and sessions. */

/** Statements of the step, in order. */
export const statements = [
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
