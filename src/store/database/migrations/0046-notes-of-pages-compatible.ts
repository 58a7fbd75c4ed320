/** Notes of status pages, which only members of their accounts see. */

/** Statements of the step, in order. */
export const statements = ["ALTER TABLE status_pages ADD COLUMN note TEXT NOT NULL DEFAULT ''"];
