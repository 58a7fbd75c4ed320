/** Step 0005 of the registry's tables: domains that accounts want, and what accounts must be told. */

/** Statements of the step, in order. */
export const OWNERSHIP_TABLES = [
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
] as const;
