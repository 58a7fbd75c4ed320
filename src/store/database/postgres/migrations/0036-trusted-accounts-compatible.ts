/** Step 0049 of SQLite: accounts that the operator trusts, and services whose domains nobody has proved. */

/** Statements of the step, in order. */
export const statements = [
  'ALTER TABLE accounts ADD COLUMN trusted_at bigint',
  'ALTER TABLE accounts ADD COLUMN trusted_by TEXT',
  'ALTER TABLE services ADD COLUMN unproven bigint NOT NULL DEFAULT 0',
];
