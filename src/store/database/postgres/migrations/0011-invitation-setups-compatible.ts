/** Step 0024 of SQLite: how many ways to sign in were begun from an invitation. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE invitations ADD COLUMN setups bigint NOT NULL DEFAULT 0`];
