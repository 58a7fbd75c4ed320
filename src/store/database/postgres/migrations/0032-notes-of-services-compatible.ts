/** Step 0045 of SQLite: notes of services, which only members of their accounts see. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN note text'];
