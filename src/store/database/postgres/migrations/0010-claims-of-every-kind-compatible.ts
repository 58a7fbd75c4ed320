/** Step 0023 of SQLite: domains that accounts want may be monitored by every kind of check. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE domain_claims DROP CONSTRAINT domain_claims_kind_check`];
