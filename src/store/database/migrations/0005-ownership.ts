/** Domains that accounts want, and notices to accounts. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE domain_claims (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('root', 'health', 'heartbeat')),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, domain)
  ) STRICT, WITHOUT ROWID`,
  `CREATE TABLE account_notices (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    at INTEGER NOT NULL,
    text TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX account_notices_account ON account_notices (account_id, id)`,
];
