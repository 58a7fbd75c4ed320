/** The brand colours of status pages, and which of them only members see. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN colour TEXT`,
  `ALTER TABLE status_pages ADD COLUMN members_only INTEGER NOT NULL DEFAULT 0`,
];
