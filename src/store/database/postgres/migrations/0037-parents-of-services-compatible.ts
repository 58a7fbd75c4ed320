/** Step 0050 of SQLite: what services depend on. */

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE services ADD COLUMN depends_on text',
  'CREATE INDEX services_with_parents ON services (account_id) WHERE depends_on IS NOT NULL',
];
