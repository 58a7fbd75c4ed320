/** Domains of owners for their status pages. A domain belongs to the page that proved it last. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN domain TEXT`,
  `ALTER TABLE status_pages ADD COLUMN domain_proved_at INTEGER`,
  `ALTER TABLE status_pages ADD COLUMN domain_checked_at INTEGER`,
  `ALTER TABLE status_pages ADD COLUMN domain_missing_since INTEGER`,
  `CREATE UNIQUE INDEX status_pages_domain ON status_pages (domain) WHERE domain_proved_at IS NOT NULL`,
];
