/** Favicons of status pages. */

/** Statements of the step, in order. */
export const statements = [
  `ALTER TABLE status_pages ADD COLUMN favicon TEXT`,
  `CREATE TABLE status_page_favicons (
    page_id INTEGER PRIMARY KEY REFERENCES status_pages (id),
    bytes BLOB NOT NULL
  ) STRICT`,
];
