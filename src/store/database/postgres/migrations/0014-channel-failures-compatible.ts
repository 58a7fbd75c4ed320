/** Step 0028 of SQLite: since when nothing can be delivered to a channel. */

/** Statements of the step, in order. */
export const statements = [
  `CREATE TABLE channel_failures (
    channel_id bigint PRIMARY KEY REFERENCES channels (id) ON DELETE CASCADE,
    since bigint NOT NULL,
    problem text COLLATE "C",
    told_at bigint
  )`,
];
