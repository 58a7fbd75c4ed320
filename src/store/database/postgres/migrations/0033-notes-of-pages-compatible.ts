/** Step 0046 of SQLite: notes of status pages, which only members of their accounts see. */

/** Statements of the step, in order. */
export const statements = ["ALTER TABLE status_pages ADD COLUMN note text NOT NULL DEFAULT ''"];
