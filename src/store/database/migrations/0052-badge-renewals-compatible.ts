/** Renewals of the signed addresses of badges. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN badge_renewals INTEGER NOT NULL DEFAULT 0'];
