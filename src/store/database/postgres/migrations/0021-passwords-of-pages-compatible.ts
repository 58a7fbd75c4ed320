/** Step 0035 of SQLite: passwords of status pages. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE status_pages ADD COLUMN password_hash text`];
