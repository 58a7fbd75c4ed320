/** Status pages of owners. */

// A removed page keeps its row, without what it said, so that its slug is never given to another account. Logos stand
// apart: a page is read far more often than its picture.
/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE status_pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL REFERENCES accounts (id),
    slug TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    groups TEXT NOT NULL,
    logo TEXT,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0
  ) STRICT`,
  `CREATE INDEX status_pages_account ON status_pages (account_id) WHERE removed = 0`,
  `CREATE TABLE status_page_logos (
    page_id INTEGER PRIMARY KEY REFERENCES status_pages (id),
    bytes BLOB NOT NULL
  ) STRICT`,
];
