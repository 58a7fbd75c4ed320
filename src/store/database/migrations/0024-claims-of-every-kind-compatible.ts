/** Domains that accounts want may be monitored by every kind of check. */

/** Statements of the step, in order. SQLite cannot drop a constraint of a table. */
export const statements = [
  `CREATE TABLE domain_claims_of_every_kind (
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    domain TEXT NOT NULL,
    kind TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, domain)
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO domain_claims_of_every_kind (account_id, domain, kind, created_at)
    SELECT account_id, domain, kind, created_at FROM domain_claims`,
  `DROP TABLE domain_claims`,
  `ALTER TABLE domain_claims_of_every_kind RENAME TO domain_claims`,
];
