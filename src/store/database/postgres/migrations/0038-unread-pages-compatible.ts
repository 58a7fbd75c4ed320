/** Step 0051 of SQLite: times in which the status pages of vendors could not be read. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE unread_pages (
    feed text COLLATE "C" NOT NULL,
    from_at bigint NOT NULL,
    to_at bigint,
    PRIMARY KEY (feed, from_at)
  )`,
];
