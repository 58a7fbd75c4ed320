/** Reserved slugs, and the registrations of accounts. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE services ADD COLUMN ever_verified INTEGER NOT NULL DEFAULT 0`,
  `UPDATE services SET ever_verified = verified`,
  `ALTER TABLE services ADD COLUMN former_slugs TEXT`,
  `CREATE INDEX services_former_slugs ON services (id) WHERE former_slugs IS NOT NULL`,
  // Services that were never verified and are gone reserve nothing.
  `UPDATE services SET slug = slug || '~' || id
   WHERE origin = 'owner' AND removed = 1 AND ever_verified = 0 AND instr(slug, '~') = 0`,
  `CREATE TABLE domain_registrations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    at INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX domain_registrations_account ON domain_registrations (account_id, at)`,
];
