/** Step 0031 of SQLite: domains of owners for their status pages. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN domain text`,
  `ALTER TABLE status_pages ADD COLUMN domain_proved_at bigint`,
  `ALTER TABLE status_pages ADD COLUMN domain_checked_at bigint`,
  `ALTER TABLE status_pages ADD COLUMN domain_missing_since bigint`,
  `CREATE UNIQUE INDEX status_pages_domain ON status_pages (domain) WHERE domain_proved_at IS NOT NULL`,
];
