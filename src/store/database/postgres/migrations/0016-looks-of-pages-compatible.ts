/** Step 0030 of SQLite: the brand colours of status pages, and which of them only members see. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN colour text`,
  `ALTER TABLE status_pages ADD COLUMN members_only bigint NOT NULL DEFAULT 0`,
];
