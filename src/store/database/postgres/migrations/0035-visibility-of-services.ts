/** Step 0048 of SQLite: who sees a service; null: everyone. */

/** Statements of the step, in order. */
export const statements = ['ALTER TABLE services ADD COLUMN visibility text'];
