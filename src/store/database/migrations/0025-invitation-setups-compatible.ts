/** How many ways to sign in were begun from an invitation. */

/** Statements of the step, in order. */
export const statements = [`ALTER TABLE invitations ADD COLUMN setups INTEGER NOT NULL DEFAULT 0`];
