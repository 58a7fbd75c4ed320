/** What services depend on. The index finds what depends on a service that goes. */

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE services ADD COLUMN depends_on TEXT',
  'CREATE INDEX services_with_parents ON services (account_id) WHERE depends_on IS NOT NULL',
];
