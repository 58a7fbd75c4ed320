/** Which invitation a link to make a way to sign in belongs to. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE setup_links ADD COLUMN invitation BLOB`];
