/** Invitations to accounts. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE invitations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 BLOB NOT NULL UNIQUE,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    inviter_id INTEGER NOT NULL REFERENCES people (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'viewer')),
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    person_id INTEGER REFERENCES people (id)
  ) STRICT`,
  `CREATE INDEX invitations_account ON invitations (account_id)`,
];
