/** Times in which the status pages of vendors could not be read. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE unread_pages (
    feed TEXT NOT NULL,
    from_at INTEGER NOT NULL,
    to_at INTEGER,
    PRIMARY KEY (feed, from_at)
  ) STRICT, WITHOUT ROWID`,
];
