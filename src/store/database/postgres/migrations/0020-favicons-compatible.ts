/** Step 0034 of SQLite: favicons of status pages. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN favicon text`,
  `CREATE TABLE status_page_favicons (
    page_id bigint PRIMARY KEY REFERENCES status_pages (id),
    bytes bytea NOT NULL
  )`,
];
