/** Since when nothing can be delivered to a channel, and whether its account was told. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE channel_failures (
    channel_id INTEGER PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
    since INTEGER NOT NULL,
    problem TEXT,
    told_at INTEGER
  ) STRICT`,
];
